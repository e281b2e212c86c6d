from django.apps import AppConfig


class ThreatsConfig(AppConfig):
    name = "threats"

    def ready(self) -> None:
        from threats import services

        services.register()

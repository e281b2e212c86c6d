from django.apps import AppConfig


class RemediationsConfig(AppConfig):
    name = "remediations"

    def ready(self) -> None:
        from remediations import services

        services.register_for_search()

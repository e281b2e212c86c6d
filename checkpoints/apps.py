from django.apps import AppConfig


class CheckpointsConfig(AppConfig):
    name = "checkpoints"

    def ready(self) -> None:
        from checkpoints import services

        services.register_for_search()

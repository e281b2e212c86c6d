from django.apps import AppConfig


class TroubleshootConfig(AppConfig):
    name = "troubleshoot"

    def ready(self) -> None:
        from troubleshoot import services

        services.register_for_search()

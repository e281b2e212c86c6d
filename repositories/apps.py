from django.apps import AppConfig


class RepositoriesConfig(AppConfig):
    name = "repositories"

    def ready(self) -> None:
        from repositories import services

        services.register_for_search()

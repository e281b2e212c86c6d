from django.apps import AppConfig


class ContextsConfig(AppConfig):
    name = "contexts"

    def ready(self) -> None:
        from contexts import receivers, services  # noqa: F401

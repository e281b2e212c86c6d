from django.apps import AppConfig


class SearchConfig(AppConfig):
    name = "contextd.search"
    label = "search"

    def ready(self) -> None:
        from contextd.search import health  # noqa: F401  (it registers)

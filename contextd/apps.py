from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules

from contextd import garbage


class ContextdConfig(AppConfig):
    name = "contextd"

    def ready(self) -> None:
        from contextd import celery, checks, status  # noqa: F401

        autodiscover_modules("operations", "resources", "prompts", "tasks")
        garbage.spare_imports()

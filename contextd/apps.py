from django.apps import AppConfig
from django.core.management import get_commands
from django.utils.module_loading import autodiscover_modules

from contextd import garbage

BYPASSING = ("import", "export")
"""Commands of django-import-export that read and write rows without redaction, search or audit."""

BROKEN = ("generateschema", "export_openapi_schema")
"""Commands of Django REST framework and django-ninja that fail on our APIs."""


class ContextdConfig(AppConfig):
    name = "contextd"

    def ready(self) -> None:
        from contextd import celery, checks, status  # noqa: F401

        autodiscover_modules("operations", "resources", "prompts", "tasks")
        for name in (*BYPASSING, *BROKEN):
            get_commands().pop(name, None)  # a cached dict
        garbage.spare_imports()

"""`manage.py docs` writes the pages of docs/ that are generated from the code."""

from typing import Any

from django.core.management.base import BaseCommand

from contextd import reference


class Command(BaseCommand):
    help = "Write docs/operations.md and docs/configuration.md from the code."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        for path, text in reference.pages().items():
            path.write_text(text, encoding="utf-8")
            self.stdout.write(str(path))

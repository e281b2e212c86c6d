"""`manage.py threats validate`."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from threats import knowledge


class Command(BaseCommand):
    help = "Check threat files for errors."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        validate = actions.add_parser("validate", help="report every error; fails if there is one")
        validate.add_argument("folder", nargs="?", type=Path, default=knowledge.FOLDER)

    def handle(self, *args: Any, folder: Path, **options: Any) -> None:
        if not folder.is_dir():
            raise CommandError(f"there is no folder {folder}")
        count, complaints = knowledge.validate(folder)
        if complaints:
            raise CommandError("\n".join(map(str, complaints)))
        if not count:
            raise CommandError(f"there are no threats in {folder}")
        self.stdout.write(f"{count} threats, no errors")

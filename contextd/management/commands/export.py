from argparse import REMAINDER, ArgumentParser
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    """In place of the library's command, which passes credentials and search by."""

    help = "Not available: export and import records in the admin, which checks and redacts them"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("ignored", nargs=REMAINDER)

    def handle(self, *args: Any, **options: Any) -> NoReturn:
        raise CommandError(
            "records are exported and imported in the admin, with Export and Import above each "
            "list (docs/admin.md); for skills as files there is manage.py skills"
        )

"""`manage.py knowledge validate [FOLDER]`: are the files of patterns right?"""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from troubleshoot import knowledge


class Command(BaseCommand):
    help = "Check the files of patterns; the exit code says whether all is right."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        validate = actions.add_parser("validate", help="Say what is wrong, with file and line")
        validate.add_argument("folder", nargs="?", type=Path, default=knowledge.FOLDER)

    def handle(self, *args: Any, action: str, folder: Path, **options: Any) -> None:
        found = knowledge.read(folder)
        for complaint in found.complaints:
            self.stderr.write(str(complaint))
        if found.complaints:
            raise CommandError(f"{len(found.complaints)} problems in {folder}")
        if not found.patterns:
            raise CommandError(f"there are no patterns in {folder}")
        files = len(knowledge.sizes(found.patterns))
        self.stdout.write(f"{len(found.patterns)} patterns in {files} files are right")

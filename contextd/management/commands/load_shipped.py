"""`manage.py load_shipped`: a step of `up`, for installations that run the parts separately."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from contextd import shipped


class Command(BaseCommand):
    help = "Load the records that ship with contextd into the database; people's edits are kept."

    def handle(self, *args: Any, **options: Any) -> None:
        complaints = []
        for library in shipped.libraries():
            loaded = shipped.load(library)
            complaints += loaded.complaints
            self.stdout.write(f"{library.name}: {loaded}")
        if complaints:
            raise CommandError("\n".join(map(str, complaints)))

"""`manage.py load_shipped`: what `up` does by itself, for parts that are run apart."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from contextd import shipped


class Command(BaseCommand):
    help = "Bring the records that ship with contextd into the database, beside people's edits."

    def handle(self, *args: Any, **options: Any) -> None:
        complaints = []
        for library in shipped.libraries():
            loaded = shipped.load(library)
            complaints += loaded.complaints
            self.stdout.write(f"{library.name}: {loaded}")
        if complaints:
            raise CommandError("\n".join(map(str, complaints)))

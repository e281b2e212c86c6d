"""`manage.py reembed`: give every passage a vector of the model that the settings name."""

import time
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import Progress

from contextd.search import backlog, embedding, repairing
from contextd.search.embedding import EmbeddingUnavailable
from contextd.search.models import Passage

POLL_SECONDS = 1


class Command(BaseCommand):
    help = (
        "Embed the passages that have no vector of the model in EMBEDDING_MODEL. Saves and "
        "searches keep working; an interrupted run is continued by the next one."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--all", action="store_true", help="also embed passages that have a vector"
        )
        parser.add_argument("--repair", action="store_true", help="first rebuild all words")
        parser.add_argument(
            "--prune", action="store_true", help="finally delete the vectors of other models"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        started = time.monotonic()
        if options["repair"]:
            show("Rebuilding words", Passage.objects.count(), repairing.repair())
        if options["all"]:
            backlog.forget_vectors()
        try:
            embedded = show("Embedding", backlog.count_pending(), embed())
        except EmbeddingUnavailable as error:
            raise CommandError(f"{error}; finished work is kept, run it again") from None
        seconds = time.monotonic() - started
        self.stdout.write(f"{embedded} passages embedded by {embedding.model()} in {seconds:.0f} s")
        self._end(prune=options["prune"])

    def _end(self, *, prune: bool) -> None:
        if left := backlog.count_pending():
            raise CommandError(f"{left} passages are still not embedded; the log says why")
        if prune:
            for space in backlog.forget_other_spaces():
                self.stdout.write(f"The vectors of {space} have been deleted")


def embed() -> Iterator[int]:
    """Embed in this process, or follow a worker that is already embedding."""
    while pending := backlog.count_pending():
        is_ours = False
        for number in backlog.embed_batches():
            is_ours = True
            yield number
        if is_ours:
            return
        time.sleep(POLL_SECONDS)
        yield pending - backlog.count_pending()


def show(title: str, total: int, steps: Iterable[int]) -> int:
    """Show the steps in a progress bar; return their sum."""
    done = 0
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task(title, total=total)
        for step in steps:
            done += step
            progress.advance(task, step)
    return done

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
        "searches go on meanwhile; when stopped half-way, the next run goes on from there."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--all", action="store_true", help="embed again what has a vector too")
        parser.add_argument("--repair", action="store_true", help="first make all words anew")
        parser.add_argument("--prune", action="store_true", help="at last drop other models' work")

    def handle(self, *args: Any, **options: Any) -> None:
        started = time.monotonic()
        if options["repair"]:
            show("Making words anew", Passage.objects.count(), repairing.repair())
        if options["all"]:
            backlog.forget_vectors()
        try:
            embedded = show("Embedding", backlog.count_pending(), embed())
        except EmbeddingUnavailable as error:
            raise CommandError(f"{error}; what is done is kept, run it again") from None
        seconds = time.monotonic() - started
        self.stdout.write(f"{embedded} passages embedded by {embedding.model()} in {seconds:.0f} s")
        self._end(prune=options["prune"])

    def _end(self, *, prune: bool) -> None:
        if left := backlog.count_pending():
            raise CommandError(f"{left} passages are still not embedded; the log says why")
        if prune:
            for space in backlog.forget_other_spaces():
                self.stdout.write(f"The vectors of {space} are gone")


def embed() -> Iterator[int]:
    """By this process, or by a worker that is at it already."""
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
    """Follow the steps with a progress bar; returns their sum."""
    done = 0
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task(title, total=total)
        for step in steps:
            done += step
            progress.advance(task, step)
    return done

"""`manage.py index_repo PATH`: index a repository now, and show the progress."""

import sys
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from contextd import auth, jobs
from contextd.errors import ContextdError
from contextd.management.arguments import folder
from contextd.models import Job
from repositories import services

MAX_NOTE_CHARACTERS = 60
INTERRUPTED = 130
"""The exit code of programs that end with Ctrl-C."""


class Command(BaseCommand):
    help = (
        "Index a repository, so that its code is found by words at once, and by meaning once the "
        "worker has embedded it. Run it again after changes; Ctrl-C stops it, and the next run "
        "resumes from there."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=folder)
        parser.add_argument(
            "--include",
            action="append",
            default=[],
            metavar="PATTERN",
            help="index only matching files: 'src/**'; may be repeated",
        )
        parser.add_argument(
            "--exclude",
            action="append",
            default=[],
            metavar="PATTERN",
            help="skip matching files; may be repeated",
        )
        parser.add_argument(
            "--max-file-size", type=int, default=1024 * 1024, help="maximum size of a file in bytes"
        )

    def handle(self, *args: Any, path: str, **options: Any) -> None:
        caller = auth.local_caller("cli")
        try:
            started = services.begin(
                caller,
                path=path,
                include_patterns=options["include"],
                exclude_patterns=options["exclude"],
                max_file_size=options["max_file_size"],
                queued=False,
            )
            follow(started)
            state = services.outcome(caller, started.job_id)
        except ContextdError as error:
            raise CommandError(error.message) from None
        except KeyboardInterrupt:
            self.stderr.write("Stopped; the next run of this command resumes from here.")
            sys.exit(INTERRUPTED)
        for line in services.summary(state):
            self.stdout.write(line)


def follow(started: services.Started) -> None:
    """Work on the run unless another process does, and show the progress."""
    worker = threading.Thread(target=work, args=[started.job_id])
    if started.is_new:
        worker.start()
    try:
        show(started.job_id)
    except KeyboardInterrupt:
        if started.is_new:
            jobs.cancel(started.job_id)
        raise
    finally:
        if started.is_new:
            worker.join()


def work(job_id: int) -> None:
    try:
        services.index(job_id)
    finally:
        connection.close()


def show(job_id: int) -> None:
    columns = (
        TextColumn("Indexing"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=None)
        for job in jobs.watch(job_id):
            note = job.note[-MAX_NOTE_CHARACTERS:]
            is_done = job.state == Job.State.DONE
            done = job.total if is_done else job.done
            progress.update(task, completed=done, total=job.total or None, description=note)

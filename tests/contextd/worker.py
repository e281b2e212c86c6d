"""A worker process to test against, and the task it does."""

import logging
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from celery import shared_task

from tests.server import ROOT, stop

logger = logging.getLogger(__name__)


@shared_task(name="tests.work")  # type: ignore[untyped-decorator]  # Celery has no annotations
def work(credential: str) -> None:
    logger.warning("working with %s", credential)
    raise RuntimeError(f"failed with {credential}")


@contextmanager
def worker_process(environment: Mapping[str, str], log: Path) -> Iterator[None]:
    command = [sys.executable, "-m", "celery", "--quiet", "--app", "contextd", "worker"]
    options = ["--pool", "threads", "--without-gossip", "--without-mingle", "--include", __name__]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, *options], cwd=ROOT, env=environment, stdout=output, stderr=output
        )
        try:
            yield
        finally:
            stop(process)

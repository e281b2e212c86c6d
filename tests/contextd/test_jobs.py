"""Jobs that are queued while the broker does not answer."""

import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from socket import SHUT_RDWR, create_server, socket

from tests.server import ROOT

QUEUE_TWICE = """
import django
django.setup()
from contextd import celery, jobs
jobs.defer("contextd.tasks.end_idle_sessions")
jobs.defer("contextd.tasks.end_idle_sessions")
"""


def test_a_dead_broker_is_tried_once_per_job_and_logged_once(
    environment: Mapping[str, str],
) -> None:
    with hanging_up() as (port, calls):
        ended = subprocess.run(
            [sys.executable, "-c", QUEUE_TWICE],
            cwd=ROOT,
            env={**environment, "REDIS_URL": f"redis://127.0.0.1:{port}/0"},
            capture_output=True,
            timeout=120,
        )

    assert ended.returncode == 0
    assert len(calls) == 2
    assert ended.stderr.count(b"jobs wait for the sweeper") == 1


@contextmanager
def hanging_up() -> Iterator[tuple[int, list[str]]]:
    """A server that ends each connection at once: its port and its callers."""
    calls: list[str] = []

    def serve() -> None:
        while connection := _next(listener):
            calls.append("hello")
            connection.close()

    with closing(create_server(("127.0.0.1", 0))) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1], calls
        listener.shutdown(SHUT_RDWR)


def _next(listener: socket) -> socket | None:
    try:
        return listener.accept()[0]
    except OSError:
        return None

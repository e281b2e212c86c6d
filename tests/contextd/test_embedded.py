import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis
from celery import Celery

from contextd import embedded
from tests.services import UNSAFE

CHECKOUT = Path(__file__).resolve().parent.parent.parent


def remember(data_dir: Path, word: str) -> None:
    with psycopg.connect(embedded.database_url(data_dir)) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS words (word text)")
        connection.execute("INSERT INTO words VALUES (%s)", [word])


def remembered(data_dir: Path) -> list[str]:
    with psycopg.connect(embedded.database_url(data_dir)) as connection:
        return [word for (word,) in connection.execute("SELECT word FROM words")]


@contextlib.contextmanager
def parent_of(start: str, data_dir: Path) -> Iterator[tuple[subprocess.Popen[str], psutil.Process]]:
    """A Python process that starts a server and waits: the process, and the server's."""
    script = f"""
import pathlib, signal, sys
from contextd import embedded
print(embedded.{start}(pathlib.Path(sys.argv[1])).pid, flush=True)
signal.pause()
"""
    command = [sys.executable, "-c", script, str(data_dir)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=CHECKOUT) as parent:
        assert parent.stdout
        try:
            yield parent, psutil.Process(int(parent.stdout.readline()))
        finally:
            parent.kill()


def test_what_is_committed_outlives_a_stop(data_dir: Path) -> None:
    with embedded.start_postgres(data_dir):
        remember(data_dir, "kept")
    with embedded.start_postgres(data_dir):
        after = remembered(data_dir)

    assert after == ["kept"]


def test_what_is_committed_outlives_a_kill_of_postgres(data_dir: Path) -> None:
    with embedded.start_postgres(data_dir) as server:
        remember(data_dir, "kept")
        os.kill(server.pid, signal.SIGKILL)
        with embedded.start_postgres(data_dir):
            after = remembered(data_dir)

    assert after == ["kept"]


def test_stop_leaves_no_process_and_no_socket(data_dir: Path) -> None:
    with embedded.start_postgres(data_dir, UNSAFE) as postgres, embedded.start_valkey(data_dir) as valkey:
        pids = [postgres.pid, valkey.pid]

    assert not [pid for pid in pids if psutil.pid_exists(pid)]
    assert not [path for path in (data_dir / "run").rglob("*") if path.is_socket()]


def test_postgres_dies_with_its_parent_and_the_next_start_goes_on(data_dir: Path) -> None:
    with parent_of("start_postgres", data_dir) as (parent, server):
        remember(data_dir, "kept")
        parent.kill()
        server.wait(30)
    with embedded.start_postgres(data_dir):
        after = remembered(data_dir)

    assert after == ["kept"]

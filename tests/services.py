"""Loaded with `-p tests.services`: a Postgres and a Valkey of this process' own.

They start when the module is imported, since Django's settings are read right after. Processes
that run tests side by side share nothing, else one would work off what another has queued.
"""

import atexit
import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from contextd import embedded

# A test database may lose everything in a crash.
UNSAFE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}

STARTED_HERE = "CONTEXTD_TESTS_HAVE_SERVERS"

# Statistics that are taken while a test's rows are not committed say that its tables are empty.
SAME_EACH_TIME = {"autovacuum": "off"}


@contextlib.contextmanager
def temporary_data_dir() -> Iterator[Path]:
    """Short, for the socket's sake, and open to be passed, since Postgres may be another user."""
    path = Path(tempfile.mkdtemp(prefix="contextd-test-", dir=_memory()))
    path.chmod(0o711)
    try:
        yield path
    finally:
        shutil.rmtree(path)


def _memory() -> Path | None:
    """Where fsync costs nothing, if there is room; a container's own is small."""
    memory = Path("/dev/shm")  # noqa: S108
    return memory if memory.is_dir() and shutil.disk_usage(memory).free > 2 * 1024**3 else None


@pytest.fixture
def data_dir() -> Iterator[Path]:
    with temporary_data_dir() as path:
        yield path


def _is_given(name: str) -> bool:
    """Whether a person has set it, and not the process that started this one."""
    return name in os.environ and name not in os.environ.get(STARTED_HERE, "").split()


def _start(running: contextlib.ExitStack) -> None:
    path = running.enter_context(temporary_data_dir())
    os.environ["CONTEXTD_DATA_DIR"] = str(path)
    if not _is_given("DATABASE_URL"):
        running.enter_context(embedded.start_postgres(path, settings=UNSAFE | SAME_EACH_TIME))
        _set("DATABASE_URL", embedded.database_url(path))
    if not _is_given("REDIS_URL"):
        running.enter_context(embedded.start_valkey(path))
        _set("REDIS_URL", embedded.redis_url(path))


def _set(name: str, url: str) -> None:
    os.environ[name] = url
    os.environ[STARTED_HERE] = f"{os.environ.get(STARTED_HERE, '')} {name}"


with contextlib.ExitStack() as _running:
    _start(_running)
    atexit.register(_running.pop_all().close)

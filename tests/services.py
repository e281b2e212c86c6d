"""Loaded with `-p tests.services`: starts a Postgres and a Valkey for this process.

They start when the module is imported, since Django's settings are read right after. Test workers
share nothing; otherwise one would run the jobs that another has queued.
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

# Generating the fast graph of the embedding model takes five seconds.
MODELS = Path(__file__).parent.parent / ".pytest_cache" / "d" / "models"

# Statistics gathered before a test commits its rows say that its tables are empty.
REPRODUCIBLE = {"autovacuum": "off"}


@contextlib.contextmanager
def temporary_data_dir() -> Iterator[Path]:
    """Yield a short path, as sockets need, that the user who runs Postgres can enter."""
    path = Path(tempfile.mkdtemp(prefix="contextd-test-", dir=_memory()))
    path.chmod(0o711)
    MODELS.mkdir(parents=True, exist_ok=True)
    (path / "models").symlink_to(MODELS)
    try:
        yield path
    finally:
        shutil.rmtree(path)


def _memory() -> Path | None:
    """Return a folder where fsync is free, if it has room; that of a container is small."""
    memory = Path("/dev/shm")  # noqa: S108
    return memory if memory.is_dir() and shutil.disk_usage(memory).free > 2 * 1024**3 else None


@pytest.fixture
def data_dir() -> Iterator[Path]:
    with temporary_data_dir() as path:
        yield path


def _is_given(name: str) -> bool:
    """Return whether a person set the variable, rather than a parent process of the tests."""
    return name in os.environ and name not in os.environ.get(STARTED_HERE, "").split()


def _start(running: contextlib.ExitStack) -> None:
    path = running.enter_context(temporary_data_dir())
    os.environ["CONTEXTD_DATA_DIR"] = str(path)
    # Without certificates, each of thousands of HTTP clients starts in a tenth of the time.
    certificates = path / "certificates"
    certificates.mkdir()
    os.environ["SSL_CERT_DIR"] = str(certificates)
    if not _is_given("DATABASE_URL"):
        running.enter_context(embedded.start_postgres(path, settings=UNSAFE | REPRODUCIBLE))
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

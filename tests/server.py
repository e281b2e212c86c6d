"""A web process to test against: real uvicorn, real HTTP, on the database of this test run."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.db import connection

from tests import waiting

ROOT = Path(__file__).parent.parent
START_SECONDS = 180
STOP_SECONDS = 30
EVENTUALLY_SECONDS = 20
# Set by coverage (`patch = ["subprocess"]`) for the processes that are to be measured.
COVERAGE = "COVERAGE_PROCESS_CONFIG"

_coverage: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Server:
    """Its address, the environment of its processes, its log and its process id."""

    url: str
    environment: Mapping[str, str]
    log: Path
    pid: int


@pytest.fixture
def environment(transactional_db: None) -> Mapping[str, str]:
    """Return the environment for processes of a test: test database and app `tests.door`.

    They see and write committed rows, which the end of the test deletes.
    """
    return environment_of_processes()


@pytest.fixture
def server(transactional_db: None, one_server: Server) -> Server:
    """Return the web process that all tests share; for rows see `environment`."""
    return one_server


@pytest.fixture(scope="session")
def one_server(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("server") / "log"
    with web_process(measured(environment_of_processes()), log) as running:
        yield running


def environment_of_processes() -> Mapping[str, str]:
    database = urlsplit(os.environ["DATABASE_URL"])
    name = connection.settings_dict["NAME"]
    return {
        **os.environ,
        "DATABASE_URL": database._replace(path=f"/{name}").geturl(),
        "DJANGO_SETTINGS_MODULE": "tests.door.settings",
    }


@pytest.fixture(autouse=True, scope="session")
def unmeasured_processes() -> Iterator[None]:
    """Start child processes without coverage, which doubles the CPU time of a start."""
    if COVERAGE in os.environ:
        _coverage[COVERAGE] = os.environ.pop(COVERAGE)
    yield
    os.environ.update(_coverage)


def measured(environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return an environment whose processes are part of the coverage of this run, if any.

    For processes that run what no test runs in its own process.
    """
    return {**environment, **_coverage}


@contextmanager
def web_process(
    environment: Mapping[str, str], log: Path, port: int | None = None
) -> Iterator[Server]:
    port = port or free_port()
    command = [sys.executable, "-m", "uvicorn", "contextd.asgi:application"]
    options = ["--port", str(port), "--lifespan", "on", "--timeout-graceful-shutdown", "5"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, *options], cwd=ROOT, env=environment, stdout=output, stderr=output
        )
        try:
            wait_until_listening(process, port, log)
            yield Server(f"http://127.0.0.1:{port}", environment, log, process.pid)
        finally:
            stop(process)


def eventually(condition: Callable[[], bool]) -> bool:
    """Return whether the condition becomes true in time."""
    return waiting.is_true_within(EVENTUALLY_SECONDS, condition)


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port: int = listener.getsockname()[1]
        return port


def wait_until_listening(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    def has_settled() -> bool:
        return process.poll() is not None or is_listening(port)

    waiting.is_true_within(START_SECONDS, has_settled)
    if not is_listening(port):
        pytest.fail(f"the server did not start:\n{log.read_text()}")


def is_listening(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def stop(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise

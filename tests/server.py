"""A web process to test against: real uvicorn, real HTTP, on the database of this test run."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.db import connection

ROOT = Path(__file__).parent.parent
START_SECONDS = 60
STOP_SECONDS = 15
EVENTUALLY_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Server:
    """Where it listens, the environment that it and its like run in, and what it has logged."""

    url: str
    environment: Mapping[str, str]
    log: Path
    pid: int


@pytest.fixture
def environment(transactional_db: None) -> Mapping[str, str]:
    """For processes of a test: this run's servers, its test database, the app `tests.door`.

    What they see and write is committed, and gone again after the test.
    """
    return environment_of_processes()


@pytest.fixture
def server(transactional_db: None, one_server: Server) -> Server:
    """One process for all tests; `environment` tells what to know about rows."""
    return one_server


@pytest.fixture(scope="session")
def one_server(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("server") / "log"
    with web_process(environment_of_processes(), log) as running:
        yield running


def environment_of_processes() -> Mapping[str, str]:
    database = urlsplit(os.environ["DATABASE_URL"])
    name = connection.settings_dict["NAME"]
    return {
        **os.environ,
        "DATABASE_URL": database._replace(path=f"/{name}").geturl(),
        "DJANGO_SETTINGS_MODULE": "tests.door.settings",
    }


def unmeasured(environment: Mapping[str, str]) -> dict[str, str]:
    """Without coverage, which doubles the time of a start: for what other tests run too."""
    return {name: value for name, value in environment.items() if not name.startswith("COVERAGE")}


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
    """Whether it becomes true in time."""
    deadline = time.monotonic() + EVENTUALLY_SECONDS
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port: int = listener.getsockname()[1]
        return port


def wait_until_listening(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    pytest.fail(f"the server did not start:\n{log.read_text()}")


def stop(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise

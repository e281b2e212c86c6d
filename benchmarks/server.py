"""A dedicated server for a measurement: `manage.py up` on a free port and a data folder."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg

from contextd import embedded

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = ROOT / ".contextd-bench-shipped"
"""Data folder of benchmarks that leave no data, where shipped knowledge is embedded only once."""

WEB = "contextd.serving"
START_SECONDS = 180
EMBED_SECONDS = 900
IDLE_SECONDS = 300
IDLE_SHARE = 0.1
PENDING = """
SELECT count(*) FROM search_passage
WHERE NOT EXISTS (SELECT FROM search_embedding WHERE passage_id = search_passage.id)
"""


@dataclass(frozen=True)
class Server:
    port: int
    data_dir: Path
    process: "subprocess.Popen[bytes]"


@contextmanager
def running(data_dir: Path | None = None) -> Iterator[Server]:
    """Run a server without rate limits; yield it once it is idle and shipped knowledge embedded."""
    with ready(data_dir) as server:
        wait_until_embedded(server.data_dir)
        wait_until_idle(server)
        yield server


@contextmanager
def ready(data_dir: Path | None = None) -> Iterator[Server]:
    """Run a server without rate limits, by default on a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="contextd-bench-") as fresh:
        folder = data_dir or Path(fresh)
        folder.mkdir(mode=0o711, parents=True, exist_ok=True)
        Path(fresh).chmod(0o711)
        port = free_port()
        process = start(folder, port)
        try:
            wait_until_ready(port, process)
            yield Server(port, folder, process)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def start(folder: Path, port: int) -> "subprocess.Popen[bytes]":
    environment = {
        **os.environ,
        "CONTEXTD_DATA_DIR": str(folder),
        "CONTEXTD_HTTP_HOST": "127.0.0.1",
        "CONTEXTD_HTTP_PORT": str(port),
        "CONTEXTD_RATE_LIMITS": "off",
        "CONTEXTD_LOG_LEVEL": "WARNING",
    }
    command = [sys.executable, str(ROOT / "manage.py"), "up"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)  # noqa: S603


def wait_until_ready(port: int, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError("the server did not become ready; its messages are above")


def wait_until_embedded(folder: Path) -> None:
    """Wait for the embedding after a first start, which takes minutes and would distort figures."""
    until = time.monotonic() + EMBED_SECONDS
    with psycopg.connect(embedded.database_url(folder), autocommit=True) as connection:
        while connection.execute(PENDING).fetchone() != (0,):
            if time.monotonic() > until:
                raise RuntimeError("shipped knowledge is not embedded yet; is the machine busy?")
            time.sleep(1)


def wait_until_idle(server: Server) -> None:
    """Wait until work that nobody waits for is done: processes that start, jobs, vacuums."""
    until = time.monotonic() + IDLE_SECONDS
    while cpu_share(server.process.pid) > IDLE_SHARE:
        if time.monotonic() > until:
            raise RuntimeError("the server does not become idle; what do its jobs do?")


def cpu_share(pid: int) -> float:
    """Return the share of one core that the process and its descendants use in one second."""
    before = cpu_seconds(pid)
    time.sleep(1)
    return cpu_seconds(pid) - before


def cpu_seconds(pid: int) -> float:
    seconds = 0.0
    for process in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            seconds += times.user + times.system
    return seconds


def part_of(ours: Server, word: str) -> psutil.Process:
    """Look a process up each time, since `up` may restart it."""
    for child in psutil.Process(ours.process.pid).children():
        if word in " ".join(child.cmdline()):
            return child
    raise RuntimeError(f"{word} is not running")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port

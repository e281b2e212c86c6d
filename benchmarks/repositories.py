"""`make bench`, repositories: this project and two large packages, indexed by a running server."""

import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from benchmarks import report, server, sets
from benchmarks.client import Client

PACKAGES = ["django==5.2.19", "sympy==1.14.0"]
# Outside of this project, which would otherwise index them too.
SOURCES = Path(tempfile.gettempdir()) / "contextd-bench-sources"
QUERIES = [
    "where are passwords hashed",
    "parse a date from a string",
    "how is a transaction rolled back",
    "QuerySet",
    "simplify an expression",
    "retry when the connection is lost",
    "validate an email address",
    "matrix determinant",
]
PAUSE_SECONDS = 0.2
EMBEDDING_SECONDS = 120
TOOL_SECONDS = 310


@dataclass
class Measured:
    """The cost of indexing one folder; `waits` are milliseconds of concurrent searches."""

    name: str
    first: dict[str, Any]
    again: dict[str, Any]
    waits: list[float] = field(default_factory=list)
    megabytes: float = 0

    @property
    def row(self) -> list[str]:
        seconds, files = self.first["seconds"], self.first["files_indexed"]
        return [
            self.name,
            str(files),
            str(self.first["passages"]),
            f"{seconds:.0f}",
            f"{files / seconds:.0f}",
            f"{self.first['passages'] / seconds:.0f}",
            f"{1000 * self.again['seconds'] / files:.2f}",
            half_and_most(self.waits),
            f"{self.megabytes:.0f}",
        ]


def half_and_most(waits: list[float]) -> str:
    return f"{sets.percentile(waits, 0.5):.0f} / {sets.percentile(waits, 0.95):.0f}"


HEADS = [
    *("repository", "files", "passages", "seconds", "files/s", "passages/s"),
    *("unchanged: s per 1,000 files", "concurrent search p50 / p95 ms", "worker's peak MiB"),
]


def main() -> None:
    folders = [server.ROOT, *(unpacked(package) for package in PACKAGES)]
    with server.running() as running:
        warm_up(Client(running.port))
        measured = [measure(running, folder) for folder in folders]
        with searching(running.port) as waits:
            time.sleep(EMBEDDING_SECONDS)
        left = Client(running.port).call("index_status", path=str(folders[-1]))["passages_pending"]
    text = (
        "Each indexed from scratch by the worker of a running server until it is found by words, "
        "while another client searches five times per second. "
        f"Sources of {' and '.join(PACKAGES)} as published on PyPI.\n\n"
        f"{report.table(HEADS, [one.row for one in measured])}\n\n"
        f"For {EMBEDDING_SECONDS} s afterwards, while the worker embeds passages in the "
        f"background ({left} of the last repository were left): concurrent search p50 / p95 "
        f"{half_and_most(waits)} ms."
    )
    report.write("repositories", "Repositories: speed", "make bench", text)


def unpacked(package: str) -> Path:
    """Return the folder of a source distribution, downloaded once."""
    folder = SOURCES / package.replace("==", "-")
    if not folder.exists():
        SOURCES.mkdir(parents=True, exist_ok=True)
        packed = SOURCES / f"{folder.name}.tar.gz"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        where = ["--no-binary", ":all:", "--dest", str(SOURCES)]
        if not packed.exists():
            subprocess.run([*command, *where, package], check=True)  # noqa: S603
        with tarfile.open(packed) as archive:
            archive.extractall(SOURCES, filter="data")
    return folder


def warm_up(client: Client) -> None:
    for _ in range(5):
        client.call("repository_search", query="warm up")


def measure(running: server.Server, folder: Path) -> Measured:
    with searching(running.port) as waits, watching(running.process.pid) as peaks:
        first = index(running.port, folder)
    again = index(running.port, folder)
    name = "contextd" if folder == server.ROOT else folder.name
    return Measured(name, first, again, waits, max(peaks))


def index(port: int, folder: Path) -> dict[str, Any]:
    """Index the folder; wait without a time limit."""
    client = Client(port, timeout=TOOL_SECONDS)
    status = client.call("index_repository", path=str(folder))
    while status["state"] in ("queued", "running"):
        time.sleep(1)
        status = client.call("index_status", job_id=status["job_id"])
    return status


@contextmanager
def searching(port: int) -> Iterator[list[float]]:
    """Collect the latency of searches while the block runs."""
    over = threading.Event()
    waits: list[float] = []

    def search() -> None:
        client = Client(port)
        number = 0
        while not over.wait(PAUSE_SECONDS):
            query = f"{QUERIES[number % len(QUERIES)]} {number}"
            waits.append(client.timed("repository_search", query=query)[1])
            number += 1

    with running_thread(search, over):
        yield waits


@contextmanager
def watching(parent: int) -> Iterator[list[float]]:
    """Sample the memory of the worker, in MiB, while the block runs."""
    over = threading.Event()
    peaks = [0.0]

    def look() -> None:
        while not over.wait(1):
            peaks.append(worker_megabytes(parent))

    with running_thread(look, over):
        yield peaks


@contextmanager
def running_thread(work: Any, over: threading.Event) -> Iterator[None]:
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def worker_megabytes(parent: int) -> float:
    """Return the resident memory of the largest Celery process that `up` has started."""
    sizes = [0]
    for child in psutil.Process(parent).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "celery" in " ".join(child.cmdline()):
                sizes.append(child.memory_info().rss)
    return max(sizes) / 2**20


if __name__ == "__main__":
    main()

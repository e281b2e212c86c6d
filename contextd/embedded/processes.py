"""Child processes that are watched, stopped in order, and end with their parent."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Self

import psutil

from contextd.embedded import parent

_STDERR = 2
_PROGRESS_SECONDS = 10
_HELD, _GO = "CONTEXTD_HELD", b"go"
_DISK_FULL = re.compile("No space left on device|Check free disk space")
_REASON = re.compile(r"fatal|panic|error", re.IGNORECASE)


class StartError(Exception):
    """Why contextd cannot start or continue, in one line for the person who started it."""


@dataclass(frozen=True)
class Signal:
    """One step of a stop: the signal to send, and the seconds to wait before the next step."""

    number: signal.Signals
    patience: float


@dataclass(frozen=True)
class Account:
    """A system user to run as, if it is not our own."""

    uid: int
    gid: int


@dataclass(frozen=True)
class Program:
    """What to run and how to stop it: the steps of `stop` one after the other, then SIGKILL."""

    name: str
    command: Sequence[str | Path]
    stop: Sequence[Signal]
    death_signal: signal.Signals = signal.SIGKILL
    log: Path | None = None
    account: Account | None = None
    directory: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    is_held: bool = False
    """Prepare when started, then wait until released."""

    def start(self) -> "Process":
        """Start it, from the main thread only: the child ends with the thread that started it."""
        try:
            with _output(self.log) as output:
                return Process(self, self._spawn(output))
        except OSError as error:
            raise StartError(f"{self.name} cannot be started: {error}") from None

    def _spawn(self, output: int) -> subprocess.Popen[bytes]:
        account = self.account
        return subprocess.Popen(  # noqa: S603  (our own programs, without a shell)
            [str(word) for word in self.command],
            stdin=subprocess.PIPE if self.is_held else subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=self.directory,
            env={**os.environ, **self.environment, **({_HELD: "yes"} if self.is_held else {})},
            umask=0o077,
            # Ctrl-C in the terminal must reach only this process, which stops the children.
            start_new_session=True,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            preexec_fn=partial(parent.follow, os.getpid(), self.death_signal),
        )


class Process:
    """A running program; as a context manager, it is stopped on exit."""

    def __init__(self, program: Program, child: subprocess.Popen[bytes]) -> None:
        self.name = program.name
        self.pid = child.pid
        self.program = program
        self._child = child
        self._is_held = program.is_held

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def let_go(self) -> None:
        """Release a held program. If it has already ended, its supervisor notices that."""
        self._is_held = False
        if self._child.stdin:
            with contextlib.suppress(BrokenPipeError):
                self._child.stdin.write(_GO)
                self._child.stdin.close()

    def has_ended(self) -> bool:
        return self._child.poll() is not None

    def ensure_running(self) -> None:
        """Raise StartError with the reason if it has ended by itself."""
        if self.has_ended():
            raise StartError(self.obituary())

    def wait_until(self, is_ready: Callable[[], bool], pause: float = 0.02) -> None:
        """Wait as long as it runs, and report progress to the person who waits."""
        started = reported = time.monotonic()
        while not is_ready():
            self.ensure_running()
            if time.monotonic() - reported > _PROGRESS_SECONDS:
                reported = time.monotonic()
                say(f"Still waiting for {self.name} ({reported - started:.0f} s).")
            time.sleep(pause)

    def complete(self) -> None:
        """Wait for a program that ends by itself. Raise StartError unless it succeeds."""
        if self._child.wait() != 0:
            raise StartError(self.obituary())

    def stop(self) -> None:
        for step in self.program.stop:
            if self.has_ended() or self._is_held:
                break
            self._child.send_signal(step.number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(step.patience)
        # The whole process group: a killed worker leaves its own children behind.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._child.wait()

    def obituary(self) -> str:
        """Return how it ended, where its log is and, if it ended by itself, why."""
        code, log = self._child.returncode, self.program.log
        if code < 0:
            place = f" (log: {log})" if log else ""
            return f"{self.name} ended with {signal.Signals(-code).name}{place}"
        reason = f": {last_words(log.read_text(errors='replace'))} ({log})" if log else ""
        return f"{self.name} ended with exit code {code}{reason}"


def wait_until_let_go() -> None:
    """Wait if this program is held; exit silently if the holder ends."""
    if os.environ.pop(_HELD, None) and sys.stdin.buffer.read(len(_GO)) != _GO:
        sys.exit(1)


def last_words(output: str) -> str:
    """Return the line of an ended program's output that best explains the failure."""
    if _DISK_FULL.search(output):
        return "the disk is full"
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    reasons = [line for line in lines if _REASON.search(line)]
    return next(reversed(reasons or lines), "it printed nothing")


def end_leftovers(executable: str, mark: str, stop: Sequence[Signal]) -> None:
    """End what an earlier run left: processes of that name with the mark in their arguments."""
    left = [
        process
        for process in psutil.process_iter(["name", "cmdline"])
        if process.info["name"] == executable and mark in " ".join(process.info["cmdline"] or [])
    ]
    for step in [*stop, Signal(signal.SIGKILL, 10)]:
        for process in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(step.number)
        _, left = psutil.wait_procs(left, timeout=step.patience)


def say(line: str) -> None:
    """Print a line for the person at the terminal, where logs would be noise."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201


@contextlib.contextmanager
def _output(log: Path | None) -> Iterator[int]:
    """Yield our own stderr, or a new log; the log of the previous run is kept beside it."""
    if log is None:
        yield _STDERR
        return
    log.parent.mkdir(mode=0o700, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        log.replace(log.with_suffix(".previous.log"))
    with log.open("wb") as file:
        yield file.fileno()

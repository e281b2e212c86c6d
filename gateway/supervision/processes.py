"""Run programs that speak MCP on standard input and output; never leave one behind."""

import asyncio
import contextlib
import errno
import logging
import os
import secrets
import signal
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

import anyio
import psutil
from django.conf import settings

from contextd import logs
from contextd.embedded import addresses, parent
from contextd.lines import LineSplitter
from gateway import policy, wire
from gateway.errors import Hopeless, Lost
from gateway.services import Plan
from gateway.wire import Peer, Streams

Stream = TypeVar("Stream", asyncio.StreamReader, asyncio.StreamWriter)

MARK = "CONTEXTD_GATEWAY"
RUN = "CONTEXTD_RUN"
"""Environment variable with an id per run, which finds everything the run has started."""
PATIENCE_SECONDS = 2
LASTING_ERRORS = {errno.ENOENT, errno.EACCES, errno.EPERM, errno.ENOEXEC, errno.E2BIG}
"""Permanent errors of a start; others, such as a lack of resources, may pass."""
MAX_SWEEPS = 3
MAX_TAIL_LINES = 20
MAX_TAIL_LINE_CHARACTERS = 1000
MAX_STDERR_LINE_BYTES = 64 * 1024


class Tail:
    """Keeps an upstream's last output other than messages, for the report of a failure."""

    def __init__(self, conceal: Callable[[str], str] = str, namespace: str = "upstream") -> None:
        self._lines: deque[str] = deque(maxlen=MAX_TAIL_LINES)
        self._conceal, self._namespace = conceal, namespace
        self._stderr = LineSplitter(MAX_STDERR_LINE_BYTES)

    def note(self, line: str) -> str:
        """Keep the line; return it as kept, without secrets and of limited length."""
        kept = self._conceal(line.rstrip())[:MAX_TAIL_LINE_CHARACTERS]
        self._lines.append(kept)
        return kept

    def warn(self, line: str) -> str:
        """Do what `note` does, and log the line, but only a few of many."""
        kept = self.note(line)
        # Each upstream has its own logger, since the limit is per logger.
        logs.warn_seldom(logging.getLogger(f"{__name__}.{self._namespace}"), kept)
        return kept

    def read(self, chunk: bytes) -> None:
        """Keep what was written to standard error, once its line is complete.

        A part of a line may contain a part of a secret, which cannot be recognized.
        """
        for line in self._stderr.feed(chunk):
            too_long = f"[a line of more than {MAX_STDERR_LINE_BYTES} bytes]"
            self.note(too_long if line is None else line.decode(errors="replace"))

    def end(self) -> None:
        """Keep the last line, which has no line feed."""
        if line := self._stderr.end():
            self.note(line.decode(errors="replace"))

    def __str__(self) -> str:
        return "\n".join(self._lines)


def mark() -> str:
    """Return the mark in the environment of every process started for this data folder."""
    return addresses.identity(settings.DATA_DIR)


def environment_of(plan: Plan, run: str) -> dict[str, str]:
    """Build the environment from the upstream's settings; inherit nothing."""
    return {"PATH": policy.PATH, **plan.settings, MARK: mark(), RUN: run}


@asynccontextmanager
async def running(plan: Plan, tail: Tail, ended: anyio.Event) -> AsyncIterator[Streams]:
    run = secrets.token_hex(16)
    process = await start(plan, run)
    said = asyncio.create_task(read_standard_error(process, tail))
    try:
        async with wire.connected(peer_of(process, tail), ended) as streams:
            yield streams
    finally:
        with anyio.CancelScope(shield=True):
            await end(process, run)
            said.cancel()
            await asyncio.wait([said])


async def start(plan: Plan, run: str) -> asyncio.subprocess.Process:
    program = policy.program_of(plan)
    pipe = asyncio.subprocess.PIPE
    try:
        return await asyncio.create_subprocess_exec(
            program,
            *plan.command[1:],
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            cwd=plan.working_directory or None,
            env=environment_of(plan, run),
            start_new_session=True,
            preexec_fn=partial(parent.follow, os.getpid()),
        )
    except (OSError, ValueError) as error:
        is_lasting = isinstance(error, ValueError) or error.errno in LASTING_ERRORS
        kind = Hopeless if is_lasting else Lost
        raise kind(f"{plan.command[0]} cannot be started: {error}") from None


def peer_of(process: asyncio.subprocess.Process, tail: Tail) -> Peer:
    to_process = piped(process.stdin)

    async def write(line: bytes) -> None:
        if to_process.is_closing():
            raise BrokenPipeError
        to_process.write(line)
        await to_process.drain()

    return Peer(partial(piped(process.stdout).read, wire.CHUNK_BYTES), write, tail.warn)


def piped(stream: Stream | None) -> Stream:
    """Return the stream, which is never None for a process started with pipes."""
    if stream is None:
        raise Lost("it has no pipe")
    return stream


async def read_standard_error(process: asyncio.subprocess.Process, tail: Tail) -> None:
    """Read standard error continuously, since a full pipe would block the program."""
    while chunk := await piped(process.stderr).read(wire.CHUNK_BYTES):
        tail.read(chunk)
    tail.end()


async def end(process: asyncio.subprocess.Process, run: str) -> None:
    """Close its input, as the protocol requires; then terminate it, then kill it."""
    piped(process.stdin).close()
    for number in (None, signal.SIGTERM):
        if number:
            signal_group(process.pid, number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), PATIENCE_SECONDS)
            break
    # Even if it ended by itself: its children must end too.
    signal_group(process.pid, signal.SIGKILL)
    await process.wait()
    await asyncio.to_thread(end_marked, RUN, run)
    # It would close only after its pipes are read to the end, which no longer happens.
    process._transport.close()  # type: ignore[attr-defined]


def signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def end_leftovers() -> None:
    """Kill processes left behind by a gateway that was killed."""
    end_marked(MARK, mark())


def end_marked(name: str, value: str) -> None:
    """Kill processes with this environment variable, even outside of their group."""
    for _ in range(MAX_SWEEPS):  # a process may have just started another
        left = [process for process in psutil.process_iter() if is_marked(process, name, value)]
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        if not left:
            return


def is_marked(process: psutil.Process, name: str, value: str) -> bool:
    try:
        return process.pid != os.getpid() and process.environ().get(name) == value
    except (psutil.Error, OSError):
        return False

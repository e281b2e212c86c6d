"""The programs of a running contextd, and what happens when one of them ends."""

import contextlib
import math
import socket
import sys
import time
from collections.abc import Sequence
from signal import SIGTERM
from typing import Self

from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

from contextd import embedded
from contextd.embedded import addresses
from contextd.embedded.processes import Process, Program, Signal, say

_STEADY_SECONDS = 60
_ANSWER_SECONDS = 3


def ensure_port_is_free() -> None:
    """Raise StartError unless the web server will be able to listen."""
    host, port = settings.ENVIRONMENT.http_host, settings.ENVIRONMENT.http_port
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            # As the server does; otherwise connections of a previous run would block the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise embedded.StartError(
            f"cannot listen on {host} port {port}: {error.strerror}; "
            "set CONTEXTD_HTTP_PORT (or CONTEXTD_HTTP_HOST) to another one"
        ) from None


def start_postgres(running: contextlib.ExitStack) -> list[Process]:
    """Start it unless an external one is configured; it is stopped when `running` is closed."""
    if settings.ENVIRONMENT.database_url:
        return []
    return [running.enter_context(embedded.start_postgres(settings.DATA_DIR))]


def start_valkey(running: contextlib.ExitStack) -> "list[Restarted]":
    """Start it, unless an external one is configured, which then has to answer."""
    if settings.ENVIRONMENT.redis_url:
        ensure_redis_answers()
        return []
    process = embedded.start_valkey(settings.DATA_DIR)
    return [running.enter_context(Restarted(process.program, process))]


def ensure_redis_answers() -> None:
    """Raise StartError, without the address, which may contain a password, unless it answers."""
    try:
        with Redis.from_url(
            settings.REDIS_URL,
            socket_connect_timeout=_ANSWER_SECONDS,
            socket_timeout=_ANSWER_SECONDS,
        ) as redis:
            redis.ping()
    except (RedisError, ValueError):
        raise embedded.StartError(
            "REDIS_URL does not answer: start that server, or unset it to use the embedded one"
        ) from None


def worker() -> Program:
    """Describe the worker. It uses threads, so that the embedding model is in memory once."""
    return Program(
        name="the worker",
        command=[
            *(sys.executable, "-m", "celery", "--quiet", "--app", "contextd", "worker"),
            *("--hostname", f"{addresses.identity(settings.DATA_DIR)}@%h"),
            *("--pool", "threads", "--concurrency", "2"),
            *("--clock", "--without-gossip", "--without-mingle"),
            *("--loglevel", settings.LIBRARY_LOG_LEVEL),
        ],
        stop=[Signal(SIGTERM, 5)],
        directory=settings.BASE_DIR,
        environment={"CONTEXTD_DATA_DIR": str(settings.DATA_DIR)},
    )


def start_gateway(running: contextlib.ExitStack) -> "list[Restarted]":
    """Start the gateway, unless it runs on another host."""
    if settings.CONTEXTD_GATEWAY_ADDRESS:
        return []
    return [running.enter_context(Restarted(gateway()))]


def gateway() -> Program:
    return Program(
        name="the gateway",
        command=[sys.executable, settings.BASE_DIR / "manage.py", "gateway_run"],
        stop=[Signal(SIGTERM, 10)],
        # Not SIGKILL: it has to end the upstreams, which are separate processes.
        death_signal=SIGTERM,
        directory=settings.BASE_DIR,
        environment={"CONTEXTD_DATA_DIR": str(settings.DATA_DIR)},
    )


class Restarted:
    """A program that is restarted when it ends, after growing pauses, a few times."""

    def __init__(
        self,
        program: Program,
        process: Process | None = None,
        pauses: Sequence[float] = (1, 2, 4, 8, 16),
    ) -> None:
        """Supervise the program; a `process` that already runs is used first."""
        self._program = program
        self._pauses = pauses
        self._process = process
        self._failures = 0
        self._started_at = time.monotonic()
        self._due_at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process:
            self._process.stop()

    def tend(self) -> None:
        """Start the program if that is due; call this continually."""
        now = time.monotonic()
        if self._process and self._process.has_ended():
            self._note_end(self._process, now)
        if not self._process and now >= self._due_at:
            self._started_at = now
            self._process = self._program.start()

    def _note_end(self, process: Process, now: float) -> None:
        process.stop()  # also ends the children it has left behind
        self._process = None
        self._failures = 0 if now - self._started_at > _STEADY_SECONDS else self._failures
        if self._failures == len(self._pauses):
            self._due_at = math.inf
            say(
                f"contextd: {process.obituary()}, repeatedly: it is not restarted any more. "
                "Restart contextd once the cause is gone."
            )
            return
        pause = self._pauses[self._failures]
        self._due_at = now + pause
        self._failures += 1
        say(f"contextd: {process.obituary()}; it is restarted in {pause} s.")

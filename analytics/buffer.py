"""Finished calls on their way into the database, off the path of the calls themselves."""

import atexit
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from threading import Lock, Timer

from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection

from contextd import logs
from contextd.callers import Caller
from contextd.notes import Notes
from contextd.operations import Result

MOST = 10_000
AT_ONCE = 500

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Finished:
    """A call as `operation_finished` tells of it, and when that was."""

    at: datetime
    operation: str
    caller: Caller
    outcome: str
    seconds: float
    notes: Notes
    result: Result | None


Write = Callable[[list[Finished]], None]


class Buffer:
    """Keeps finished calls until a thread of its own hands them to `write`, some at a time."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._waiting: deque[Finished] = deque()
        self._writing = Lock()
        self._timer: Timer | None = None
        atexit.register(self._end)

    def add(self, finished: Finished) -> None:
        if len(self._waiting) >= MOST:
            logs.warn_seldom(logger, f"calls are not counted: {MOST} wait to be written")
            return
        self._waiting.append(finished)
        if settings.CONTEXTD_EVENTS_SECONDS is not None and not self._will_write():
            # A new one each time, so that a process that has forked has its own.
            self._timer = Timer(settings.CONTEXTD_EVENTS_SECONDS, self._write_and_let_go)
            self._timer.daemon = True
            self._timer.start()

    def _will_write(self) -> bool:
        return self._timer is not None and self._timer.is_alive() and not self._writing.locked()

    def flush(self) -> None:
        """Write all there is; what the database does not take is lost."""
        with self._writing:
            while self._waiting:
                some = [self._waiting.popleft() for _ in range(min(AT_ONCE, len(self._waiting)))]
                self._hand_over(some)

    def clear(self) -> None:
        self._waiting.clear()

    def _hand_over(self, some: list[Finished]) -> None:
        try:
            self._write(some)
        except DatabaseError as error:
            logs.warn_seldom(logger, f"calls were not counted: {type(error).__name__}")

    def _write_and_let_go(self) -> None:
        close_old_connections()
        try:
            self.flush()
        finally:
            connection.close()

    def _end(self) -> None:
        if settings.CONTEXTD_EVENTS_SECONDS is not None:
            self._write_and_let_go()

"""Buffers rows on their way to the database, so that calls do not wait for writes."""

import atexit
import logging
from collections import deque
from collections.abc import Callable, Sequence
from threading import Lock, Timer
from typing import Generic, TypeVar

from django.db import DatabaseError, InterfaceError, OperationalError, connection

from contextd import logs

MAX_WAITING_ROWS = 10_000
ROWS_PER_WRITE = 500

logger = logging.getLogger(__name__)

Row = TypeVar("Row")


class Buffer(Generic[Row]):
    """Keeps rows until its thread gives them to `write`, in batches.

    `name` is what the log calls the rows, `seconds` how long they wait; None: until `flush`.
    """

    def __init__(
        self, name: str, write: Callable[[Sequence[Row]], None], seconds: float | None
    ) -> None:
        self.seconds = seconds
        self._name, self._write = name, write
        self._waiting: deque[Row] = deque()
        self._writing = Lock()
        self._timer: Timer | None = None
        atexit.register(self._end)

    def add(self, row: Row) -> bool:
        """Return whether there was room for the row."""
        if len(self._waiting) >= MAX_WAITING_ROWS:
            return False
        self._waiting.append(row)
        self._see_to_it()
        return True

    def flush(self) -> None:
        """Write all rows, except those that wait for a database that does not answer."""
        with self._writing:
            while rows := self._next():
                try:
                    self._write(rows)
                except (OperationalError, InterfaceError):
                    self._waiting.extendleft(reversed(rows))
                    waiting = len(self._waiting)
                    logs.warn_seldom(logger, f"{waiting} {self._name} wait for the database")
                    break
                except DatabaseError:
                    logger.exception("%d %s are lost", len(rows), self._name)

    def clear(self) -> None:
        self._waiting.clear()

    def _next(self) -> list[Row]:
        return [self._waiting.popleft() for _ in range(min(ROWS_PER_WRITE, len(self._waiting)))]

    def _see_to_it(self) -> None:
        # A forked process inherits the timer, but not its thread.
        if self.seconds is not None and not (self._timer and self._timer.is_alive()):
            self._timer = Timer(self.seconds, self._write_and_let_go)
            self._timer.daemon = True
            self._timer.start()

    def _write_and_let_go(self) -> None:
        self._timer = None  # later rows start another timer
        try:
            self.flush()
        finally:
            connection.close()
        if self._waiting:
            self._see_to_it()

    def _end(self) -> None:
        if self.seconds is not None and self._waiting:
            self.flush()
            connection.close()

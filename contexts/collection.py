"""Rows that are written by a thread of its own, some at a time, so that no call waits for it."""

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

from django.db import DatabaseError, InterfaceError, OperationalError, connection

EVERY_SECONDS = 0.25
MOST_WAITING = 10_000
AT_ONCE = 500

logger = logging.getLogger(__name__)

Row = list[Any]


class Collection:
    """Takes rows until `end`, and gives them to `write`."""

    def __init__(self, write: Callable[[Sequence[Row]], None]) -> None:
        self._write = write
        self._waiting: queue.Queue[Row] = queue.Queue(MOST_WAITING)
        self._has_ended = threading.Event()
        self._writer = threading.Thread(target=self._write_on, name="audit", daemon=True)
        self._writer.start()

    def add(self, row: Row) -> bool:
        """Whether there was room for it."""
        try:
            self._waiting.put_nowait(row)
        except queue.Full:
            return False
        return True

    def end(self) -> None:
        """Returns when all is written, or cannot be."""
        self._has_ended.set()
        self._writer.join()

    def _write_on(self) -> None:
        rows: list[Row] = []
        while not self._has_ended.wait(EVERY_SECONDS):
            rows = self._write_some(rows)
        if rows := self._write_some(rows):
            logger.error("%d entries of the audit are lost", len(rows))

    def _write_some(self, rows: list[Row]) -> list[Row]:
        """Those that could not be written, for another time."""
        while rows := self._taken(rows):
            try:
                self._write(rows)
            except (OperationalError, InterfaceError):
                logger.warning("the audit cannot be written now; %d entries wait", len(rows))
                break
            except DatabaseError:
                logger.exception("%d entries of the audit are lost", len(rows))
            rows = []
        connection.close()  # back to the pool
        return rows

    def _taken(self, rows: list[Row]) -> list[Row]:
        while len(rows) < AT_ONCE:
            try:
                rows.append(self._waiting.get_nowait())
            except queue.Empty:
                break
        return rows

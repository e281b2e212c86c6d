"""Limits how many requests run and how many may queue, for servers with a thread per request."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import close_old_connections

from contextd.errors import Busy

MAX_WAITING_CALLS = 100


class ConcurrencyLimit:
    def __init__(self, at_once: int, waiting: int) -> None:
        self._free = threading.BoundedSemaphore(at_once)
        self._known = threading.BoundedSemaphore(at_once + waiting)

    @contextmanager
    def slot(self, seconds: float) -> Iterator[None]:
        """Run the block when there is room. Raise Busy if too many wait, or for too long."""
        if not self._known.acquire(blocking=False):
            raise Busy("too many calls are waiting; try again later")
        try:
            self._wait(seconds)
            try:
                yield
            finally:
                self._free.release()
        finally:
            self._known.release()

    def _wait(self, seconds: float) -> None:
        if self._free.acquire(blocking=False):
            return
        close_old_connections()  # others need this thread's connection while it waits
        if not self._free.acquire(timeout=seconds):
            raise Busy(f"no worker was free for {seconds:g} s; try again later")

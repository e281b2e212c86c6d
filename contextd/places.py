"""So many at once, and so many more who wait: for a door with a thread for each request."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import close_old_connections

from contextd.errors import Busy

MOST_WAITING = 100


class Places:
    def __init__(self, at_once: int, waiting: int) -> None:
        self._free = threading.BoundedSemaphore(at_once)
        self._known = threading.BoundedSemaphore(at_once + waiting)

    @contextmanager
    def taken(self, seconds: float) -> Iterator[None]:
        """Raises Busy where too many wait, or none becomes free in time."""
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
        close_old_connections()  # others need this thread's while it waits
        if not self._free.acquire(timeout=seconds):
            raise Busy(f"no worker was free for {seconds:g} s; try again later")

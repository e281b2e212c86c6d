"""Limits of this process: how much runs, queues or stays open at once, and how much arrives."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import close_old_connections

from contextd.errors import Busy, RateLimited
from contextd.rates import Rate

MAX_QUEUED_CALLS = 100
MAX_BUCKETS = 10_000


class ConcurrencyLimit:
    """Limits how many calls run and how many may queue, where each request has a thread."""

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


class PlaceLimit:
    """Limits how many places are taken at once: in all, and by each principal."""

    def __init__(self, total: int, per_principal: int) -> None:
        self._total, self._per_principal = total, per_principal
        self._taken: Counter[str] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def place(self, principal: str, what: str) -> Iterator[None]:
        """Take a place for the block. Raise Busy, naming `what` there are too many of."""
        self._take(principal, what)
        try:
            yield
        finally:
            self._give_back(principal)

    def _take(self, principal: str, what: str) -> None:
        with self._lock:
            if self._taken[principal] >= self._per_principal:
                raise Busy(f"you have {self._per_principal} {what} open; end some of them first")
            if self._taken.total() >= self._total:
                raise Busy(f"{self._total} {what} are open here; try again later")
            self._taken[principal] += 1

    def _give_back(self, principal: str) -> None:
        with self._lock:
            self._taken[principal] -= 1
            self._taken += Counter()  # drops principals without a place


class Buckets:
    """A token bucket for each principal, in memory: cheap enough for every message."""

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._full_at: dict[str, float] = {}

    def take(self, principal: str, tokens: int = 1) -> None:
        """Take that many tokens. Raise RateLimited if the bucket has too few."""
        now = time.monotonic()
        full_at = max(self._full_at.get(principal, now), now) + tokens / self._rate.per_second
        seconds = full_at - now - self._rate.burst / self._rate.per_second
        if seconds > 0:
            raise RateLimited("too many requests; wait a little", retry_after=round(seconds, 3))
        if len(self._full_at) >= MAX_BUCKETS:
            self._full_at = {one: at for one, at in self._full_at.items() if at > now}
        self._full_at[principal] = full_at

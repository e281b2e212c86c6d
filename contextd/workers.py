"""Bounded worker threads in which coroutines run synchronous Django code."""

import asyncio
import contextlib
import contextvars
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import Generic, TypeVar

import psycopg
from django.db import DEFAULT_DB_ALIAS, close_old_connections, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from contextd import limits, outages
from contextd.concurrency import MAX_QUEUED_CALLS, PlaceLimit
from contextd.errors import Busy, ContextdError, TimedOut

logger = logging.getLogger(__name__)

# A worker raises TimedOut itself at its deadline; this is how much longer we wait for it.
GRACE_SECONDS = 1.0
CANCEL_SECONDS = 2.0

Outcome = TypeVar("Outcome")

sender: ContextVar[str | None] = ContextVar("sender", default=None)
"""The principal for whom the work is done, who has only a part of the places; None has all."""


class Late(Exception):
    """The time is up. Unlike TimeoutError, the work itself never raises it."""


class Workers:
    """A few threads behind a bounded queue."""

    def __init__(self, threads: int, waiting: int = MAX_QUEUED_CALLS) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="contextd-worker")
        self._places = threading.BoundedSemaphore(threads + waiting)
        self._parts = PlaceLimit(threads + waiting, threads + waiting * 3 // 4)

    async def run(self, work: Callable[[], Outcome], *, seconds: float) -> Outcome:
        """Do the work in a thread, within `seconds` from now, including time in the queue.

        Raise Busy when it could not be started. When the awaiting task is cancelled, so is the
        database query of the work.
        """
        with limits.deadline(seconds):
            task = ThreadTask(work)
        future = self._submit(task)
        try:
            with contextlib.suppress(Late):
                return await answer_of(future, seconds)
            if future.cancel():
                raise Busy(f"no worker was free for {seconds:g} s; try again later")
            with contextlib.suppress(Late):
                return await answer_of(future, GRACE_SECONDS)
            raise TimedOut(f"no answer within {seconds:g} s")
        finally:
            if not future.cancel() and not future.done():
                asyncio.get_running_loop().run_in_executor(None, task.cancel_query)

    async def run_safely(
        self, what: str, work: Callable[[], Outcome], *, seconds: float = limits.LOOKUP_SECONDS
    ) -> Outcome:
        """Do the work as `run` does; log unexpected exceptions and raise them as ContextdError."""
        try:
            return await self.run(work, seconds=seconds)
        except ContextdError:
            raise
        except Exception as error:
            raise await outages.as_public_error_in_thread(what, error) from None

    def _submit(self, task: "ThreadTask[Outcome]") -> "Future[Outcome]":
        with contextlib.ExitStack() as taken:
            if principal := sender.get():
                taken.enter_context(self._parts.place(principal, "calls"))
            if not self._places.acquire(blocking=False):
                raise Busy("too many calls are waiting; try again later")
            taken.callback(self._places.release)
            future = self._executor.submit(task.run)
            held = taken.pop_all()
        future.add_done_callback(lambda _: held.close())
        return future

    def shut_down(self) -> None:
        """Start no more work; running work ends at its own deadline."""
        self._executor.shutdown(wait=False, cancel_futures=True)


async def answer_of(future: "Future[Outcome]", seconds: float) -> Outcome:
    """Return the result of the work. Raise Late when the time is up.

    Every call passes here, so this does without `asyncio.timeout`, which takes longer.
    """
    answer, is_late = asyncio.wrap_future(future), False

    def expire() -> None:
        nonlocal is_late
        is_late = answer.cancel()

    timer = asyncio.get_running_loop().call_later(seconds, expire)
    try:
        return await answer
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if is_late and not (task and task.cancelling()):
            raise Late from None
        raise
    finally:
        timer.cancel()


class ThreadTask(Generic[Outcome]):
    """Work for a thread, run in the context in which it was created."""

    def __init__(self, work: Callable[[], Outcome]) -> None:
        self._work = work
        self._context = contextvars.copy_context()
        self._lock = threading.Lock()
        self._database: BaseDatabaseWrapper | None = None

    def run(self) -> Outcome:
        try:
            with self._lock:
                self._database = connections[DEFAULT_DB_ALIAS]
            return self._context.run(self._work)
        finally:
            with self._lock:
                self._database = None
            close_old_connections()

    def cancel_query(self) -> None:
        # While the lock is held, the task cannot return its connection to the pool, so the
        # cancelled query is its own.
        with self._lock:
            raw = self._database.connection if self._database else None
            if raw is None:
                return
            try:
                raw.cancel_safe(timeout=CANCEL_SECONDS)
            except psycopg.Error:
                logger.warning("an abandoned query could not be cancelled")

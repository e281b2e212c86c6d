"""The one hop from the event loop to threads, where all of Django's synchronous code runs."""

import asyncio
import contextlib
import contextvars
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

import psycopg
from django.db import DEFAULT_DB_ALIAS, close_old_connections, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from contextd import limits, outages
from contextd.errors import Busy, ContextdError, TimedOut
from contextd.places import MAX_WAITING_CALLS

logger = logging.getLogger(__name__)

# A worker that reaches its deadline says so itself; this is how much later we stop listening.
GRACE_SECONDS = 1.0
CANCEL_SECONDS = 2.0

Outcome = TypeVar("Outcome")


class Late(Exception):
    """The time is up; unlike TimeoutError, no work raises it."""


class Workers:
    """A few threads and a bounded queue before them."""

    def __init__(self, threads: int, waiting: int = MAX_WAITING_CALLS) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="contextd-worker")
        self._places = threading.BoundedSemaphore(threads + waiting)

    async def run(self, work: Callable[[], Outcome], *, seconds: float) -> Outcome:
        """Do the work in a thread, within that time of now, waiting included.

        Raises Busy when it could not be started. When the awaiting task is cancelled,
        so is the database query of the work.
        """
        with limits.deadline(seconds):
            job = Job(work)
        future = self._submit(job)
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
                asyncio.get_running_loop().run_in_executor(None, job.cancel_query)

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

    def _submit(self, job: "Job[Outcome]") -> "Future[Outcome]":
        if not self._places.acquire(blocking=False):
            raise Busy("too many calls are waiting; try again later")
        future = self._executor.submit(job.run)
        future.add_done_callback(lambda _: self._places.release())
        return future

    def shut_down(self) -> None:
        """Start nothing more; what runs is bounded by its own deadline."""
        self._executor.shutdown(wait=False, cancel_futures=True)


async def answer_of(future: "Future[Outcome]", seconds: float) -> Outcome:
    """Raises Late."""
    try:
        async with asyncio.timeout(seconds) as limit:
            return await asyncio.wrap_future(future)
    except TimeoutError:
        if limit.expired():
            raise Late from None
        raise


class Job(Generic[Outcome]):
    """Work for a thread, in the context it was made in."""

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
        # While the lock is held the job cannot give its connection back, so the query that
        # is cancelled is its own.
        with self._lock:
            raw = self._database.connection if self._database else None
            if raw is None:
                return
            try:
                raw.cancel_safe(timeout=CANCEL_SECONDS)
            except psycopg.Error:
                logger.warning("a query that nobody waits for could not be cancelled")

"""Follow jobs: one query reads all the jobs that calls of this process wait for."""

import asyncio
import logging
import threading
import time
from concurrent.futures import Future

from django.db import OperationalError

from contextd import logs
from contextd.conversations import Conversation, do_and_let_go
from contextd.models import Job

READ_SECONDS = 0.25

logger = logging.getLogger(__name__)


async def follow(job_id: int, talk: Conversation, seconds: float) -> None:
    """Report progress until the job has ended or the time is up.

    An outage of the database does not end this, since the job goes on.
    """
    until, reported = time.monotonic() + seconds, 0
    while True:
        try:
            job = await asyncio.wrap_future(_reader.next(job_id))
        except OperationalError as error:
            logs.warn_seldom(logger, f"jobs could not be read: {error}")
        else:
            if job is None or not job.is_open:
                return
            if job.done > reported:
                reported = job.done
                await talk.report(job.done, job.total, job.note)
        if time.monotonic() > until:
            return


class Reader:
    """Collects for a short time which jobs to read, and reads them in its own thread.

    One query serves all waiting calls, and they do not time out when all workers are busy.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: list[tuple[int, Future[Job | None]]] = []

    def next(self, job_id: int) -> "Future[Job | None]":
        """Return the job as it will be read next; None if there is no such job."""
        reading: Future[Job | None] = Future()
        with self._lock:
            if not self._asked:
                timer = threading.Timer(READ_SECONDS, self._read)
                timer.daemon = True
                timer.start()
            self._asked.append((job_id, reading))
        return reading

    def _read(self) -> None:
        with self._lock:
            asked, self._asked = self._asked, []
        wanted = [(job_id, one) for job_id, one in asked if one.set_running_or_notify_cancel()]
        try:
            jobs = do_and_let_go(lambda: Job.objects.in_bulk({job_id for job_id, _ in wanted}))
        except Exception as error:
            for _, reading in wanted:
                reading.set_exception(error)
        else:
            for job_id, reading in wanted:
                reading.set_result(jobs.get(job_id))


_reader = Reader()

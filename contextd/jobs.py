"""Work that may be done after the answer."""

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from typing import Any

from celery import current_app
from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.utils import timezone
from kombu.exceptions import OperationalError

from contextd import logs
from contextd.errors import ContextdError, report_bug
from contextd.models import Job, JobQuerySet

LEASE = timedelta(seconds=60)
RENEW_SECONDS = 15
MAX_ATTEMPTS = 3
RETENTION = timedelta(days=30)
POLL_SECONDS = 0.25
REPORT_SECONDS = 0.5

logger = logging.getLogger(__name__)

State = Job.State


class Stopped(Exception):
    """The job is no longer wanted or belongs to another worker: the rest must not be done."""


def defer(task_name: str, *args: Any) -> None:
    """Queue `app.tasks.function` once the current transaction has committed.

    An outage of the broker delays work, but loses none: the sweepers find it.
    """
    transaction.on_commit(partial(_send, task_name, *args))


def _send(task_name: str, *args: Any) -> None:
    try:
        current_app.tasks[task_name].apply_async(args, retry=False)
    except OperationalError:
        logs.warn_seldom(logger, "jobs wait for the sweeper: the broker does not answer")


def submit(
    task_name: str, key: str, arguments: Mapping[str, Any], principal: str, *, queued: bool = True
) -> tuple[Job, bool]:
    """Return the open job of that task and key, and whether it is new; the task receives its id.

    With `queued=False`, the process that submits it works on it; a worker continues if that fails.
    A cancelled job is not joined, even if its worker has not noticed the cancellation yet. Each
    call counts as a request for the job, until `withdraw`.
    """
    _end_if_unwanted(task=task_name, key=key)
    job, is_new = Job.objects.get_or_create(
        task=task_name,
        key=key,
        state__in=Job.OPEN,
        defaults={
            "state": State.QUEUED,
            "arguments": dict(arguments),
            "leased_until": timezone.now() + LEASE,
            "created_by": principal,
        },
    )
    if not is_new and not _join(job):  # it was cancelled just now
        return submit(task_name, key, arguments, principal, queued=queued)
    if is_new and queued:
        defer(task_name, job.pk)
    return job, is_new


def _join(job: Job) -> bool:
    wanted = Job.objects.filter(pk=job.pk, is_unwanted=False)
    return bool(wanted.update(request_count=F("request_count") + 1))


class Hold:
    """The right to work on a job; it lasts as long as its lease is renewed."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._due_at = 0.0

    def report(self, done: int, total: int, note: str) -> None:
        """Report progress, outside of transactions. Raise Stopped."""
        if time.monotonic() < self._due_at:
            return
        self._due_at = time.monotonic() + REPORT_SECONDS
        self._update(done=done, total=total, note=note, leased_until=timezone.now() + LEASE)

    def renew(self) -> None:
        """Renew the lease without reporting progress. Raise Stopped."""
        self._update(leased_until=timezone.now() + LEASE)

    def keep(self) -> None:
        """Prevent others from taking the job before the current transaction ends. Raise Stopped."""
        if not self._ours().select_for_update(no_key=True).exists():
            raise Stopped

    def end(self, state: Job.State, **fields: Any) -> None:
        """End the job. Raise Stopped."""
        self._update(state=state, **fields)

    def _update(self, **fields: Any) -> None:
        if not self._ours().update(**fields, updated_at=timezone.now()):
            raise Stopped

    def _ours(self) -> Any:
        return Job.objects.filter(
            pk=self.job.pk, holder=self.job.holder, state=State.RUNNING, is_unwanted=False
        )


def work(job_id: int, do: Callable[[Hold], Mapping[str, Any]]) -> None:
    """Do the job and store what `do` returns, unless it has ended or another worker holds it."""
    hold = _take(job_id)
    if hold is None:
        return
    try:
        with _renewed(hold):
            outcome = do(hold)
        hold.end(State.DONE, outcome=dict(outcome), note="", done=F("total"))
    except Stopped:
        logger.info("job %d was stopped", job_id)
    except ContextdError as error:
        _fail(hold, error.message)
    except Exception as error:
        _fail(hold, report_bug(hold.job.task, error).message)
    finally:
        _end_if_unwanted(pk=job_id)


def _fail(hold: Hold, message: str) -> None:
    with suppress(Stopped):  # cancelled, or taken by another worker, in the meantime
        hold.end(State.FAILED, error=message)


@contextmanager
def _renewed(hold: Hold) -> Iterator[None]:
    """Renew the lease while the block runs, since a single step of it may take longer."""
    is_done = threading.Event()
    renewing = threading.Thread(target=_renew_until, args=(is_done, hold), daemon=True)
    renewing.start()
    try:
        yield
    finally:
        is_done.set()
        renewing.join()


def _renew_until(is_done: threading.Event, hold: Hold) -> None:
    while not is_done.wait(RENEW_SECONDS):
        try:
            hold.renew()
        except Stopped:
            return
        except DatabaseError as error:
            logger.warning("the lease of job %d was not renewed: %s", hold.job.pk, error)
        finally:
            connection.close()


def _take(job_id: int) -> Hold | None:
    now = timezone.now()
    free = Job.objects.filter(pk=job_id, is_unwanted=False)
    free = free.filter(state=State.QUEUED) | free.abandoned()
    updated = free.update(
        state=State.RUNNING,
        holder=secrets.token_hex(16),
        attempts=F("attempts") + 1,
        leased_until=now + LEASE,
        updated_at=now,
    )
    return Hold(Job.objects.get(pk=job_id)) if updated else None


def cancel(job_id: int) -> None:
    """Cancel the job: its worker ends it soon; a job without a worker ends now."""
    _cancel(Job.objects.filter(pk=job_id))


def cancel_all(task_name: str, key: str) -> None:
    """Cancel the open jobs of that task and key."""
    _cancel(Job.objects.filter(task=task_name, key=key))


def withdraw(job_id: int) -> None:
    """Withdraw one request for the job; without any request left, it is cancelled."""
    job = Job.objects.filter(pk=job_id)
    job.filter(request_count__gt=0).update(request_count=F("request_count") - 1)
    _cancel(job.filter(request_count=0))


def _cancel(jobs: JobQuerySet) -> None:
    jobs.open().update(is_unwanted=True)
    _end_if_unwanted(pk__in=jobs.values("pk"), state=State.QUEUED)


def _end_if_unwanted(**condition: Any) -> None:
    unwanted = Job.objects.open().filter(is_unwanted=True, **condition)
    unwanted.update(state=State.CANCELLED, note="", updated_at=timezone.now())


def are_running() -> bool:
    """Return whether any worker runs a job: work that can wait leaves the machine to it."""
    return Job.objects.filter(state=State.RUNNING, leased_until__gt=timezone.now()).exists()


def sweep() -> int:
    """Queue jobs again that nobody works on, and delete those that ended long ago."""
    Job.objects.exclude(state__in=Job.OPEN).filter(
        updated_at__lt=timezone.now() - RETENTION
    ).delete()
    abandoned = Job.objects.abandoned()
    abandoned.filter(is_unwanted=True).update(state=State.CANCELLED)
    abandoned.filter(attempts__gte=MAX_ATTEMPTS).update(
        state=State.FAILED, error=f"its worker has died {MAX_ATTEMPTS} times; the log may say why"
    )
    return sum(_queue_again(job) for job in Job.objects.abandoned())


def _queue_again(job: Job) -> bool:
    """Queue the job again unless a worker has just started it; return whether it was queued."""
    again = Job.objects.abandoned().filter(pk=job.pk)
    if not again.update(state=State.QUEUED, leased_until=timezone.now() + LEASE):
        return False
    defer(job.task, job.pk)
    return True


def watch(job_id: int) -> Iterator[Job]:
    """Yield the job repeatedly until it has ended."""
    while (job := Job.objects.get(pk=job_id)).is_open:
        yield job
        time.sleep(POLL_SECONDS)
    yield job

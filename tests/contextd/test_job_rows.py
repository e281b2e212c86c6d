"""A job outlives its worker, is done by one at a time, and stops when nobody wants it."""

from collections.abc import Callable
from typing import Any, TypeVar

import anyio
import pytest
from django.db import connection
from django.utils import timezone

from contextd import following, jobs
from contextd.conversations import Alone
from contextd.errors import Busy, NotFound
from contextd.jobs import Hold, Stopped
from contextd.models import Job
from tests.server import free_port

TASK = "contextd.tasks.end_idle_sessions"
State = Job.State
Outcome = TypeVar("Outcome")

pytestmark = pytest.mark.django_db


def submit(key: str = "shop") -> Job:
    job, _ = jobs.submit(TASK, key, {"a": 1}, "tester", queued=False)
    return job


def again(job: Job) -> Job:
    return Job.objects.get(pk=job.pk)


def count_to_three(hold: Hold) -> dict[str, Any]:
    hold.report(1, 3, "one")
    return {"counted": 3}


def test_what_was_done_is_kept() -> None:
    job = submit()

    jobs.work(job.pk, count_to_three)

    done = again(job)
    assert (done.state, done.outcome, done.attempts) == (State.DONE, {"counted": 3}, 1)
    assert (done.done, done.total, done.note) == (3, 3, "")


def test_there_is_one_open_job_about_a_thing() -> None:
    first, second, other = submit(), submit(), submit("blog")
    jobs.work(first.pk, count_to_three)
    later = submit()

    assert first == second
    assert len({first.pk, other.pk, later.pk}) == 3


def test_nobody_else_takes_what_is_worked_on() -> None:
    job = submit()

    def work_twice(hold: Hold) -> dict[str, Any]:
        jobs.work(job.pk, lambda _: pytest.fail("it is taken"))
        return {}

    jobs.work(job.pk, work_twice)
    jobs.work(job.pk, lambda _: pytest.fail("it has ended"))

    assert again(job).attempts == 1


def test_a_worker_whose_lease_ran_out_changes_nothing_any_more() -> None:
    job = submit()

    def lose(hold: Hold) -> dict[str, Any]:
        Job.objects.update(leased_until=timezone.now())
        jobs.work(job.pk, count_to_three)
        for attempt in (hold.keep, lambda: hold.report(2, 9, "late")):
            with pytest.raises(Stopped):
                attempt()
        return {"counted": 9}

    jobs.work(job.pk, lose)

    assert again(job).outcome == {"counted": 3}


def test_what_nobody_works_on_is_taken_up_three_times_at_most() -> None:
    job = submit()
    Job.objects.update(leased_until=timezone.now())
    assert jobs.sweep() == 1

    for _ in range(jobs.MAX_ATTEMPTS):
        assert jobs._take(job.pk)
        Job.objects.update(leased_until=timezone.now())

    assert jobs.sweep() == 0
    assert again(job).state == State.FAILED
    assert "its worker has died 3 times" in again(job).error


def test_waiting_and_running_jobs_can_be_cancelled() -> None:
    waiting, running = submit("a"), submit("b")

    def stop_midway(hold: Hold) -> dict[str, Any]:
        jobs.cancel(running.pk)
        hold.report(1, 2, "on")
        return {}

    jobs.cancel(waiting.pk)
    jobs.work(waiting.pk, lambda _: pytest.fail("it is cancelled"))
    jobs.work(running.pk, stop_midway)

    assert (again(waiting).state, again(running).state) == (State.CANCELLED, State.CANCELLED)


def test_a_cancelled_job_is_not_joined_even_before_its_worker_notices() -> None:
    job = submit()
    restarted: list[Job] = []

    def cancel_and_submit(hold: Hold) -> dict[str, Any]:
        jobs.cancel(job.pk)
        restarted.append(submit())
        hold.report(1, 3, "one")
        pytest.fail("the worker continued a cancelled job")

    jobs.work(job.pk, cancel_and_submit)

    (other,) = restarted
    assert other != job
    assert (again(job).state, again(other).state) == (State.CANCELLED, State.QUEUED)


def test_a_job_is_cancelled_when_every_request_for_it_is_withdrawn() -> None:
    job = submit()
    assert submit() == job

    jobs.withdraw(job.pk)
    assert again(job).is_open
    jobs.withdraw(job.pk)

    assert again(job).state == State.CANCELLED


def test_a_cancelled_job_of_a_dead_worker_has_ended() -> None:
    job = submit()
    jobs._take(job.pk)
    jobs.cancel(job.pk)
    Job.objects.update(leased_until=timezone.now())

    assert jobs.sweep() == 0
    assert again(job).state == State.CANCELLED


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (NotFound("there is no such folder"), "there is no such folder"),
        (RuntimeError("the secret of the house"), "something went wrong on our side"),
    ],
)
def test_one_that_fails_says_what_may_be_said(error: Exception, sentence: str) -> None:
    job = submit()

    def fail(hold: Hold) -> dict[str, Any]:
        raise error

    jobs.work(job.pk, fail)

    assert again(job).state == State.FAILED
    assert again(job).error.startswith(sentence)


@pytest.mark.parametrize("error", [NotFound("there is no such folder"), RuntimeError("broken")])
def test_a_cancelled_job_that_then_fails_is_cancelled(error: Exception) -> None:
    job = submit()

    def fail_when_cancelled(hold: Hold) -> dict[str, Any]:
        jobs.cancel(job.pk)
        raise error

    jobs.work(job.pk, fail_when_cancelled)

    assert (again(job).state, again(job).error) == (State.CANCELLED, "")


def test_a_worker_that_fails_after_its_lease_ran_out_changes_nothing() -> None:
    job = submit()

    def lose_and_fail(hold: Hold) -> dict[str, Any]:
        Job.objects.update(leased_until=timezone.now())
        jobs.work(job.pk, count_to_three)
        raise NotFound("there is no such folder")

    jobs.work(job.pk, lose_and_fail)

    assert (again(job).state, again(job).error) == (State.DONE, "")


def test_what_ended_long_ago_is_forgotten() -> None:
    old, new = submit("old"), submit("new")
    for job in (old, new):
        jobs.work(job.pk, count_to_three)
    Job.objects.filter(pk=old.pk).update(updated_at=timezone.now() - 2 * jobs.RETENTION)

    jobs.sweep()

    assert Job.objects.get() == new


@pytest.mark.django_db(transaction=True)
def test_who_follows_hears_of_it_and_is_not_kept_longer_than_it_wants() -> None:
    """Even while all workers are busy."""
    heard: list[tuple[float, float | None, str | None]] = []

    class Listening(Alone):
        async def report(
            self, done: float, total: float | None = None, message: str | None = None
        ) -> None:
            heard.append((done, total, message))

        async def do(self, work: Callable[[], Outcome]) -> Outcome:
            raise Busy("too many calls are waiting")

    job = submit()
    Job.objects.update(done=1, total=3, note="one")
    anyio.run(following.follow, job.pk, Listening(), 0)

    assert heard == [(1, 3, "one")]


@pytest.mark.django_db(transaction=True)
def test_jobs_that_many_wait_for_are_read_at_once() -> None:
    job = submit()
    reader = following.Reader()

    first, second, unknown = map(reader.next, (job.pk, job.pk, job.pk + 1))

    assert first.result() is second.result()
    assert unknown.result() is None


@pytest.mark.django_db(transaction=True)
def test_who_follows_is_not_told_of_an_outage_since_the_job_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = submit()
    monkeypatch.setitem(connection.settings_dict, "PORT", str(free_port()))

    anyio.run(following.follow, job.pk, Alone(), 0)

"""The hop from the event loop to threads."""

import asyncio
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from functools import partial

import anyio
import pytest

from contextd import limits
from contextd.errors import Busy, NotFound, TimedOut
from contextd.workers import Workers, sender

pytestmark = [pytest.mark.anyio, pytest.mark.django_db(transaction=True)]

LONG = 30
SHORT = 0.05


@pytest.fixture
def workers() -> Iterator[Workers]:
    """One thread, and one place to wait for it."""
    workers = Workers(threads=1, waiting=1)
    yield workers
    workers.shut_down()


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What the work of a test waits for; it is opened when the test ends."""
    gate = threading.Event()
    yield gate
    gate.set()


async def test_work_runs_in_another_thread_with_the_same_context(workers: Workers) -> None:
    word: ContextVar[str] = ContextVar("word")
    word.set("here")

    thread, heard = await workers.run(
        lambda: (threading.current_thread(), word.get()), seconds=LONG
    )

    assert thread is not threading.current_thread()
    assert heard == "here"


async def test_an_error_in_a_thread_is_raised_to_the_caller(workers: Workers) -> None:
    def miss() -> None:
        raise NotFound("gone")

    with pytest.raises(NotFound, match="gone"):
        await workers.run(miss, seconds=LONG)


async def test_the_time_of_the_call_runs_from_its_arrival(workers: Workers) -> None:
    left = await workers.run(limits.time_left, seconds=LONG)

    assert 0 < left <= LONG


async def test_work_for_a_full_queue_is_refused_at_once(
    workers: Workers, gate: threading.Event
) -> None:
    async with anyio.create_task_group() as calls:
        for _ in range(2):
            calls.start_soon(lambda: workers.run(gate.wait, seconds=LONG))
        await anyio.wait_all_tasks_blocked()

        with pytest.raises(Busy, match="too many calls"):
            await workers.run(int, seconds=LONG)
        gate.set()


async def test_work_that_finds_no_free_worker_in_time_is_refused(
    workers: Workers, gate: threading.Event
) -> None:
    first = asyncio.ensure_future(workers.run(gate.wait, seconds=LONG))
    await anyio.wait_all_tasks_blocked()

    with pytest.raises(Busy, match=r"no worker was free for 0\.05 s"):
        await workers.run(int, seconds=SHORT)
    gate.set()
    assert await first is True


async def test_work_that_does_not_end_is_abandoned(workers: Workers, gate: threading.Event) -> None:
    with pytest.raises(TimedOut, match=r"no answer within 0\.05 s"):
        await workers.run(gate.wait, seconds=SHORT)


async def test_cancelled_work_leaves_the_queue(workers: Workers, gate: threading.Event) -> None:
    first = asyncio.ensure_future(workers.run(gate.wait, seconds=LONG))
    await anyio.wait_all_tasks_blocked()
    for _ in range(5):
        with anyio.move_on_after(SHORT):
            await workers.run(int, seconds=LONG)
    gate.set()

    assert await first is True
    assert await workers.run(int, seconds=LONG) == 0


async def test_a_principal_has_only_a_part_of_the_queue(gate: threading.Event) -> None:
    workers = Workers(threads=1, waiting=4)
    token = sender.set("ann")
    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(partial(workers.run, gate.wait, seconds=LONG))
        await anyio.wait_all_tasks_blocked()

        with pytest.raises(Busy, match="you have 4 calls open"):
            await workers.run(gate.is_set, seconds=LONG)
        sender.reset(token)
        tasks.start_soon(partial(workers.run, gate.wait, seconds=LONG))
        gate.set()

    workers.shut_down()

"""Calls that clients come back for, while all workers are taken."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any, cast

import pytest
from django.utils import timezone

from contextd import detached, operations
from contextd.callers import Caller
from contextd.conversations import Conversation, Detached, do_and_let_go
from contextd.detached import Status
from contextd.mcp import tasks
from contextd.mcp.tasks import Tasks
from contextd.mcp.tools import Context
from contextd.models import DetachedCall
from contextd.operations import Request, Result
from contextd.workers import Workers

pytestmark = [pytest.mark.anyio, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "RENEW_SECONDS", 0.05)
    monkeypatch.setattr(tasks, "RETRY_SECONDS", 0.05)


@pytest.fixture
def workers() -> Iterator[Workers]:
    """One thread, and no place to wait for it."""
    workers = Workers(threads=1, waiting=0)
    yield workers
    workers.shut_down()


@asynccontextmanager
async def all_taken(workers: Workers) -> AsyncIterator[None]:
    """Keep all workers busy for so long that every repeated attempt fails once."""
    await asyncio.to_thread(workers._places.acquire)
    try:
        yield
        await asyncio.sleep(0.3)
    finally:
        workers._places.release()


@asynccontextmanager
async def at_work(workers: Workers, caller: Caller) -> AsyncIterator[tuple[str, asyncio.Event]]:
    """The id of a call that is worked on, and what lets it come to its end."""
    has_begun, is_done = asyncio.Event(), asyncio.Event()

    async def work(caller: Caller, request: Request, talk: Conversation) -> Result:
        has_begun.set()
        await is_done.wait()
        return Result()

    operation = dataclasses.replace(operations.get("status"), handler=work)
    ours = Tasks(workers, cast(Any, None))
    async with ours.running():
        ctx = cast(Context, None)
        handle = await ours.start(ctx, operation, Detached(), caller, {})
        await has_begun.wait()  # a worker has prepared the call
        yield handle["taskId"], is_done


async def eventually(holds: Callable[[], bool]) -> bool:
    for _ in range(100):
        if await asyncio.to_thread(do_and_let_go, holds):
            return True
        await asyncio.sleep(0.05)
    return False


async def test_the_result_is_stored_as_soon_as_a_worker_is_free(
    workers: Workers, caller: Caller
) -> None:
    def is_kept() -> bool:
        return detached.find(caller, call_id).status == Status.COMPLETED

    async with at_work(workers, caller) as (call_id, is_done):
        async with all_taken(workers):
            is_done.set()

        assert await eventually(is_kept)


async def test_a_task_continues_after_the_workers_were_busy(
    workers: Workers, caller: Caller
) -> None:
    soon = timezone.now() + timedelta(seconds=30)

    def is_renewed() -> bool:
        return DetachedCall.objects.get(pk=call_id).leased_until > soon

    async with at_work(workers, caller) as (call_id, _):
        async with all_taken(workers):
            calls = DetachedCall.objects.filter(pk=call_id)
            change = partial(calls.update, leased_until=soon)
            await asyncio.to_thread(do_and_let_go, change)

        assert await eventually(is_renewed)

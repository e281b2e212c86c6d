"""Wait for a run, at most for the call's time limit or until the caller cancels."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from contextd import following, jobs, limits, web
from contextd.callers import Caller
from contextd.conversations import Conversation
from contextd.errors import Busy
from repositories import services

SPARED_SECONDS = 10
"""Seconds of the time limit reserved for the answer that the run goes on."""
RETRY_SECONDS = 0.5

Outcome = TypeVar("Outcome")


async def index(caller: Caller, asked: Mapping[str, Any], talk: Conversation) -> services.State:
    """Start or join a run, report progress, and return its state at its end or the time limit."""
    await talk.take_time()
    starting = asyncio.create_task(talk.do(partial(services.begin, caller, **asked)))
    try:
        started = await asyncio.shield(starting)
        await following.follow(started.job_id, talk, limits.time_left() - SPARED_SECONDS)
    except asyncio.CancelledError:
        if web.is_ending():  # nobody has asked to cancel, and the run is another process's
            raise
        await asyncio.shield(asyncio.create_task(_withdraw(starting, talk)))
        raise
    state = await _when_free(talk, partial(services.outcome, caller, started.job_id))
    return state if started.is_new else services.joined(state, asked)


async def _withdraw(starting: asyncio.Task[services.Started], talk: Conversation) -> None:
    """End the run, unless another caller requested it too."""
    started = await starting
    await _when_free(talk, partial(jobs.withdraw, started.job_id))


async def _when_free(talk: Conversation, work: Callable[[], Outcome]) -> Outcome:
    """Do the work as soon as the workers have room, since the run goes on in any case."""
    while True:
        try:
            return await talk.do(work)
        except Busy:
            if limits.time_left() < RETRY_SECONDS:
                raise
        await asyncio.sleep(RETRY_SECONDS)

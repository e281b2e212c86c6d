"""Waiting for a run: as long as the call may take, and not when its caller gives up."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from contextd import jobs, limits
from contextd.callers import Caller
from contextd.conversations import Conversation
from repositories import services

SPARED_SECONDS = 10
"""Of the time limit, for the answer that the run goes on."""


async def index(caller: Caller, asked: Mapping[str, Any], talk: Conversation) -> services.State:
    """Start or join a run, tell how far it is, and return how it stands when it or time ends."""
    await talk.take_time()
    starting = asyncio.create_task(talk.do(partial(services.begin, caller, **asked)))
    try:
        started = await asyncio.shield(starting)
        await jobs.follow(started.job_id, talk, limits.time_left() - SPARED_SECONDS)
    except asyncio.CancelledError:
        await asyncio.shield(asyncio.create_task(_give_up(starting, talk)))
        raise
    state = await talk.do(partial(services.outcome, caller, started.job_id))
    return state if started.is_new else services.joined(state, asked)


async def _give_up(starting: asyncio.Task[services.Started], talk: Conversation) -> None:
    """End the run that was begun, unless somebody else began it or waits for it too."""
    started = await starting
    if started.is_new:
        await talk.do(partial(jobs.give_up, started.job_id))

"""Calls of operations that wait, which run as coroutines and occupy no worker."""

from collections.abc import Iterator
from contextlib import contextmanager

from mcp.types import CallToolRequestParams
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from contextd import pipeline
from contextd.callers import Caller
from contextd.conversations import Detached, Unanswered
from contextd.errors import Busy
from contextd.mcp import dialogue
from contextd.mcp.dialogue import Live, Rounds
from contextd.mcp.tasks import Tasks
from contextd.mcp.tools import Answer, Context
from contextd.mcp.workers import Workers
from contextd.operations import Operation

MAX_WAITING_CALLS = 1000


class WaitingCalls:
    def __init__(self, workers: Workers, tasks: Tasks) -> None:
        self._workers, self._tasks = workers, tasks
        self._open = 0

    async def call(
        self, ctx: Context, operation: Operation, params: CallToolRequestParams, caller: Caller
    ) -> Answer:
        with self._counted():
            if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
                return await self._call_in_rounds(ctx, operation, params, caller)
            live = Live(ctx, self._workers)
            return await pipeline.call_async(operation, params.arguments or {}, caller, live)

    async def _call_in_rounds(
        self, ctx: Context, operation: Operation, params: CallToolRequestParams, caller: Caller
    ) -> Answer:
        replies = dialogue.replies_in(params)
        rounds = Rounds(ctx, self._workers, replies)
        try:
            return await pipeline.call_async(operation, params.arguments or {}, caller, rounds)
        except Unanswered as asked:
            return dialogue.as_round(asked.questions, replies)
        except Detached as call:
            return await self._tasks.start(ctx, operation, call, caller, replies)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        if self._open >= MAX_WAITING_CALLS:
            raise Busy(f"{MAX_WAITING_CALLS} calls are waiting; try again later")
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1

"""Calls of operations that wait, which run as coroutines and occupy no worker."""

from mcp.types import CallToolRequestParams
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from contextd import pipeline
from contextd.callers import Caller
from contextd.concurrency import PlaceLimit
from contextd.conversations import Detached, Unanswered
from contextd.mcp import dialogue
from contextd.mcp.dialogue import Live, Rounds
from contextd.mcp.tasks import Tasks
from contextd.mcp.tools import Answer, Context
from contextd.operations import Operation
from contextd.workers import Workers

MAX_WAITING_CALLS = 1000
MAX_WAITING_CALLS_PER_PRINCIPAL = 200


class WaitingCalls:
    def __init__(self, workers: Workers, tasks: Tasks) -> None:
        self._workers, self._tasks = workers, tasks
        self._places = PlaceLimit(MAX_WAITING_CALLS, MAX_WAITING_CALLS_PER_PRINCIPAL)

    async def call(
        self, ctx: Context, operation: Operation, params: CallToolRequestParams, caller: Caller
    ) -> Answer:
        with self._places.place(caller.principal, "waiting calls"):
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

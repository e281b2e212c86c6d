"""The extension `io.modelcontextprotocol/tasks`: a client polls for the result of a call."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from mcp import MCPError
from mcp.server import Server
from mcp.shared.inbound import decode_header_value
from mcp.types import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    ErrorData,
    RequestParams,
)
from mcp.types.version import LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel

from contextd import detached, logs, operations, pipeline
from contextd.callers import Caller
from contextd.conversations import Detached, Unanswered
from contextd.detached import Status
from contextd.errors import ContextdError, Internal, NotFound
from contextd.mcp import answers
from contextd.mcp.dialogue import (
    Replies,
    Unattended,
    as_request,
    can_come_back,
    recognised,
    replies_of,
)
from contextd.mcp.tools import Context, Identify
from contextd.models import DetachedCall
from contextd.operations import Operation
from contextd.validation import unstorable
from contextd.workers import Workers

POLL_MILLISECONDS = 500
RENEW_SECONDS = 5
RETRY_SECONDS = 1.0
DONE: dict[str, Any] = {"resultType": "complete"}

logger = logging.getLogger(__name__)

Outcome = TypeVar("Outcome")
Serve = Callable[[Context, Any], Awaitable[dict[str, Any]]]


class TaskParams(RequestParams):
    task_id: str


class UpdateParams(TaskParams):
    input_responses: dict[str, dict[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class Work:
    """A call with everything needed to continue it."""

    call: DetachedCall
    operation: Operation
    caller: Caller
    ctx: Context

    @property
    def id(self) -> str:
        return str(self.call.pk)


class Tasks:
    """Serves `tasks/*`, and runs the tasks that this process has started."""

    def __init__(self, workers: Workers, identify: Identify) -> None:
        self._workers, self._identify = workers, identify
        self._at_work: dict[str, asyncio.Task[None]] = {}

    def install(self, server: Server[Any]) -> None:
        server.extensions[answers.TASKS] = {}
        methods: dict[str, tuple[type[TaskParams], Serve]] = {
            "tasks/get": (TaskParams, self._get),
            "tasks/update": (UpdateParams, self._update),
            "tasks/cancel": (TaskParams, self._cancel),
        }
        for method, (params, serve) in methods.items():
            server.add_request_handler(method, params, partial(checked, method, serve))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Renew leases; on exit, cancel the running tasks, which then fail."""
        renewing = asyncio.create_task(self._renew_leases())
        try:
            yield
        finally:
            renewing.cancel()
            working = list(self._at_work.values())
            for work in working:
                work.cancel()
            await asyncio.gather(*working, return_exceptions=True)

    async def start(
        self,
        ctx: Context,
        operation: Operation,
        interim: Detached,
        caller: Caller,
        replies: Replies,
    ) -> dict[str, Any]:
        begin = partial(detached.begin, caller, operation, interim, replies)
        call = await self._row(begin)
        self._go_on(Work(call, operation, caller, ctx))
        return handle(call)

    async def _get(self, ctx: Context, params: TaskParams) -> dict[str, Any]:
        call = await self._row(partial(detached.find, self._identify(ctx), params.task_id))
        return view(call)

    async def _update(self, ctx: Context, params: UpdateParams) -> dict[str, Any]:
        caller = self._identify(ctx)
        replies = replies_of(recognised(params.input_responses))
        reply = partial(detached.reply, caller, params.task_id, replies)
        call, is_ready = await self._row(reply)
        if is_ready:
            operation = operations.get(call.operation)
            self._go_on(Work(call, operation, caller, ctx))
        return DONE

    async def _cancel(self, ctx: Context, params: TaskParams) -> dict[str, Any]:
        await self._row(partial(detached.cancel, self._identify(ctx), params.task_id))
        if work := self._at_work.get(params.task_id):
            work.cancel()
        return DONE

    def _go_on(self, work: Work) -> None:
        running = asyncio.create_task(self._work(work))
        self._at_work[work.id] = running
        running.add_done_callback(lambda _: self._at_work.pop(work.id, None))

    async def _work(self, work: Work) -> None:
        conversation = Unattended(work.ctx, self._workers, work.call.replies)
        try:
            result = await pipeline.continue_async(
                work.operation, dict(work.call.arguments), work.caller, conversation
            )
        except Unanswered as asked:
            questions = {key: wire(as_request(one)) for key, one in asked.questions.items()}
            await self._write(partial(detached.ask, work.id, questions))
        except Internal as error:
            await self._fail(work, ErrorData(code=INTERNAL_ERROR, message=error.text))
        except ContextdError as error:
            await self._refuse(work, error)
        except asyncio.CancelledError:
            await self._row(partial(detached.end, work.id, Status.FAILED, detached.LOST))
            raise
        else:
            result = pipeline.with_redacted_count(result, work.call.redacted)
            await self._complete(work, answers.success(result, LATEST_MODERN_VERSION))

    async def _complete(self, work: Work, result: BaseModel) -> None:
        outcome = {**DONE, **wire(result)}
        await self._write(partial(detached.end, work.id, Status.COMPLETED, outcome))

    async def _refuse(self, work: Work, error: ContextdError) -> None:
        try:
            result = answers.failure(error, LATEST_MODERN_VERSION)
        except MCPError as refusal:
            await self._fail(work, refusal.error)
        else:
            await self._complete(work, result)

    async def _fail(self, work: Work, error: ErrorData) -> None:
        await self._write(partial(detached.end, work.id, Status.FAILED, wire(error)))

    async def _write(self, work: Callable[[], None]) -> None:
        """Write, and retry while the lease lasts, since busy workers must not lose results."""
        until = time.monotonic() + detached.LEASE.total_seconds()
        while True:
            try:
                return await self._row(work)
            except ContextdError:
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(RETRY_SECONDS)

    async def _renew_leases(self) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            try:
                await self._renew(list(self._at_work))
            except ContextdError as error:  # the lease outlasts a short outage
                logs.warn_seldom(logger, f"tasks could not be renewed: {error}")

    async def _renew(self, at_work: list[str]) -> None:
        if not at_work:
            return
        for call_id in await self._row(partial(detached.renew, at_work)):
            if work := self._at_work.get(call_id):
                work.cancel()

    async def _row(self, work: Callable[[], Outcome]) -> Outcome:
        try:
            return await self._workers.run_safely("a task", work)
        except NotFound as error:
            raise MCPError(INVALID_PARAMS, error.text, error.as_dict()) from None


async def checked(method: str, serve: Serve, ctx: Context, params: TaskParams) -> dict[str, Any]:
    """Serve clients that declare the extension, when the header names the task of the params."""
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        raise MCPError(METHOD_NOT_FOUND, "Method not found", method)
    if not can_come_back(ctx):
        raise MCPError(
            MISSING_REQUIRED_CLIENT_CAPABILITY,
            "your client does not declare the extension for tasks",
            {"requiredCapabilities": answers.CAPABILITIES["later results"]},
        )
    named = ctx.request.headers.get("mcp-name") if ctx.request else params.task_id
    if decode_header_value(named) != params.task_id:
        raise MCPError(HEADER_MISMATCH, "the header Mcp-Name must be the taskId of the params")
    if unstorable(params.task_id):
        raise MCPError(INVALID_PARAMS, "there is no such task, or it has expired")
    return await serve(ctx, params)


def handle(call: DetachedCall) -> dict[str, Any]:
    """Return the handle with which the client polls."""
    return {
        "resultType": "task",
        "taskId": call.pk,
        "status": call.status,
        "createdAt": call.created_at.isoformat(),
        "lastUpdatedAt": call.updated_at.isoformat(),
        "ttlMs": int(detached.RETENTION.total_seconds() * 1000),
        "pollIntervalMs": POLL_MILLISECONDS,
    }


def view(call: DetachedCall) -> dict[str, Any]:
    """Return the handle with the current questions, result or error."""
    content: dict[str, Any] = {}
    if call.status == Status.INPUT_REQUIRED:
        content = {"inputRequests": call.questions}
    elif call.status == Status.COMPLETED:
        content = {"result": call.outcome}
    elif call.status == Status.FAILED:
        content = {"error": call.outcome}
    return {**handle(call), **DONE, **content}


def wire(message: BaseModel) -> dict[str, Any]:
    return message.model_dump(by_alias=True, mode="json", exclude_none=True)

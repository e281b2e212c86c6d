"""Answer the requests of MCP clients on one connection, each checked as the protocol demands.

Most are from contextd's own processes (`gateway.rpc`); any client of 2026-07-28 is served.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mcp import MCPError
from mcp.shared.inbound import InboundLadderRejection, classify_inbound_request
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    JSONRPCMessage,
    JSONRPCRequest,
    RequestId,
)
from opentelemetry import context as telemetry_context
from opentelemetry import propagate

from contextd.errors import ContextdError, Invalid
from contextd.mcp import answers, envelope
from contextd.mcp.lifecycle import cancelled_by
from gateway import rpc

UNEXPECTED = "the call failed inside the gateway; see its log"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """A request that is being answered."""

    id: RequestId
    method: str
    params: rpc.Params
    writer: asyncio.StreamWriter

    @property
    def meta(self) -> dict[str, Any]:
        return self.params.get("_meta") or {}

    async def notify(self, method: str, params: rpc.Params) -> None:
        with contextlib.suppress(OSError):  # the end of the connection cancels the request
            await rpc.write(self.writer, {"method": method, "params": params})

    async def report(self, progress: float, total: float | None, message: str | None) -> None:
        """Report progress, if the sender wants to know."""
        token = self.meta.get("progressToken")
        if token is not None:
            step = {"progress": progress, "total": total, "message": message}
            told = {key: value for key, value in step.items() if value is not None}
            await self.notify(rpc.PROGRESS, {"progressToken": token, **told})


Handler = Callable[[Request], Awaitable[dict[str, Any]]]
Running = dict[str, asyncio.Task[None]]


async def serve(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handlers: Mapping[str, Handler]
) -> None:
    """Answer requests until the other side ends the connection; then cancel what still runs."""
    running: Running = {}
    try:
        async for line in rpc.lines_from(reader):
            try:
                take(message_in(line), writer, handlers, running)
            except MCPError as error:
                await rpc.write(writer, {"id": None, "error": as_error(error)})
    finally:
        for task in running.values():
            task.cancel()
        await asyncio.gather(*running.values(), return_exceptions=True)


def message_in(line: bytes) -> JSONRPCMessage:
    """Raises MCPError."""
    try:
        return envelope.message_in(json.loads(line))
    except Invalid as error:
        raise MCPError(INVALID_REQUEST, error.message) from None
    except (ValueError, RecursionError):
        raise MCPError(PARSE_ERROR, "the line is not JSON") from None


def take(
    message: JSONRPCMessage,
    writer: asyncio.StreamWriter,
    handlers: Mapping[str, Handler],
    running: Running,
) -> None:
    """Begin to answer a request, or cancel one. Raises MCPError."""
    if isinstance(message, JSONRPCRequest):
        if str(message.id) in running:  # its answer would be taken for that of the other request
            raise MCPError(INVALID_REQUEST, "a request with this id is running")
        request = Request(message.id, message.method, message.params or {}, writer)
        task = running[str(message.id)] = asyncio.create_task(answer(request, handlers))
        task.add_done_callback(lambda _: running.pop(str(message.id)))
    elif cancelled := running.get(cancelled_by(message) or ""):
        cancelled.cancel()


async def answer(request: Request, handlers: Mapping[str, Handler]) -> None:
    outcome = await outcome_of(request, handlers)
    with contextlib.suppress(OSError):  # nobody waits for the answer any more
        try:
            await rpc.write(request.writer, {"id": request.id, **outcome})
        except rpc.Failed as error:  # the result cannot be written
            await rpc.write(request.writer, {"id": request.id, "error": as_error(error)})


async def outcome_of(request: Request, handlers: Mapping[str, Handler]) -> dict[str, Any]:
    try:
        return {"result": {"resultType": "complete", **await result_of(request, handlers)}}
    except Exception as error:
        return {"error": as_error(error)}


async def result_of(request: Request, handlers: Mapping[str, Handler]) -> dict[str, Any]:
    found = classify_inbound_request({"method": request.method, "params": request.params})
    if isinstance(found, InboundLadderRejection):
        raise MCPError(found.code, found.message, found.data)
    if request.method not in handlers:
        raise MCPError(METHOD_NOT_FOUND, "Method not found", request.method)
    with continued(request.meta):
        return await handlers[request.method](request)


def as_error(error: Exception) -> dict[str, Any]:
    if isinstance(error, ContextdError):
        error = answers.protocol_error(error)
    if isinstance(error, MCPError):
        return error.error.model_dump(exclude_none=True)
    if isinstance(error, rpc.Failed):
        code = INVALID_PARAMS if error.category == "validation" else INTERNAL_ERROR
        data = {"category": error.category, "cause": error.cause}
        return {"code": code, "message": error.message, "data": data}
    logger.error("a request failed", exc_info=error)
    return {"code": INTERNAL_ERROR, "message": UNEXPECTED}


@contextlib.contextmanager
def continued(meta: Mapping[str, Any]) -> Iterator[None]:
    """Run the block as a part of the trace of the caller."""
    token = telemetry_context.attach(propagate.extract(meta))
    try:
        yield
    finally:
        telemetry_context.detach(token)

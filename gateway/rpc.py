"""MCP from one process of contextd to another: messages of 2026-07-28, one per line as on stdio.

The sessions of the SDK would take several times the CPU (docs/adr/0006). The other side is trusted,
so nothing that it sends is validated here.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextvars import Context
from itertools import count
from typing import Any

from mcp.types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    PROTOCOL_VERSION_META_KEY,
)
from opentelemetry import propagate

import contextd
from contextd.lines import LineSplitter
from contextd.mcp.lifecycle import CANCELLED

VERSION = "2026-07-28"
CALLER = "contextd/caller"
"""The key in `_meta` of the caller that a process of contextd has admitted."""
REFUSAL = "contextd/refusal"
"""The key in `_meta` of the reason for which that caller answers no question."""
OURSELVES: Mapping[str, Any] = {
    PROTOCOL_VERSION_META_KEY: VERSION,
    CLIENT_INFO_META_KEY: {"name": "contextd", "version": contextd.__version__},
    # What the caller's client cannot answer is refused when it is asked.
    CLIENT_CAPABILITIES_META_KEY: {
        "elicitation": {"form": {}, "url": {}},
        "sampling": {"context": {}, "tools": {}},
    },
}
INPUT_REQUIRED = "input_required"
PROGRESS = "notifications/progress"

MAX_LINE_BYTES = 64 * 1024 * 1024
"""More than the doors let in, and than an answer of an upstream becomes."""
MAX_QUEUED_PROGRESS = 100
CHUNK_BYTES = 64 * 1024

Message = dict[str, Any]
Params = dict[str, Any]
Report = Callable[[float, float | None, str | None], Awaitable[None]]


class Failed(Exception):
    """A request failed; `cause` is what an upstream said of it."""

    def __init__(self, message: str, category: str = "internal", cause: Any = None) -> None:
        super().__init__(message)
        self.message, self.category, self.cause = message, category, cause


class Unsent(Exception):
    """The connection had ended, so the other process cannot know of the request."""


class Closed(Exception):
    """The connection ended before the answer came."""


class Client:
    """Makes requests on one connection; they run beside each other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._ids = count(1)
        self._inboxes: dict[int, asyncio.Queue[Message | None]] = {}
        # A context of its own: the connection outlives the call that it was made for.
        self._receiving = asyncio.create_task(self._receive(reader), context=Context())

    @property
    def has_ended(self) -> bool:
        return self._receiving.done()

    async def request(
        self, method: str, params: Params, seconds: float, report: Report | None = None
    ) -> dict[str, Any]:
        """Return the result. Raises Failed, Unsent, Closed or TimeoutError."""
        if self.has_ended:
            raise Unsent
        request_id = next(self._ids)
        params = {**params, "_meta": meta_of(request_id, params, report)}
        inbox = self._inboxes[request_id] = asyncio.Queue()
        try:
            async with asyncio.timeout(seconds):
                await write(self._writer, {"id": request_id, "method": method, "params": params})
                return await wait_for_result(inbox, report)
        except (TimeoutError, asyncio.CancelledError):
            with contextlib.suppress(OSError):
                send(self._writer, {"method": CANCELLED, "params": {"requestId": request_id}})
            raise
        except OSError:
            raise Closed from None
        finally:
            del self._inboxes[request_id]

    async def _receive(self, reader: asyncio.StreamReader) -> None:
        try:
            async for line in lines_from(reader):
                message = json.loads(line)
                is_progress = message.get("method") == PROGRESS
                concerned = message["params"]["progressToken"] if is_progress else message.get("id")
                inbox = self._inboxes.get(concerned)
                if inbox and (not is_progress or inbox.qsize() < MAX_QUEUED_PROGRESS):
                    inbox.put_nowait(message)
        finally:
            self._writer.close()
            for inbox in self._inboxes.values():
                inbox.put_nowait(None)


def meta_of(request_id: int, params: Params, report: Report | None) -> dict[str, Any]:
    """Return what the protocol wants to know of a request, and the trace of the caller."""
    meta = {**OURSELVES, **params.get("_meta", {})}
    if report:
        meta["progressToken"] = request_id
    propagate.inject(meta)
    return meta


async def wait_for_result(
    inbox: "asyncio.Queue[Message | None]", report: Report | None
) -> dict[str, Any]:
    while message := await inbox.get():
        if "error" in message:
            raise failure_in(message["error"])
        if "result" in message:
            result: dict[str, Any] = message["result"]
            return result
        if report:
            step = message["params"]
            await report(step["progress"], step.get("total"), step.get("message"))
    raise Closed


def failure_in(error: Message) -> Failed:
    told = error.get("data")
    details = told if isinstance(told, dict) else {}
    return Failed(error["message"], details.get("category", "internal"), details.get("cause"))


async def lines_from(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Yield lines until the connection ends."""
    lines = LineSplitter(MAX_LINE_BYTES)
    with contextlib.suppress(OSError):
        while chunk := await reader.read(CHUNK_BYTES):
            for line in lines.feed(chunk):
                if line is None:
                    return  # no process of ours writes such a line
                yield line


async def write(writer: asyncio.StreamWriter, message: Message) -> None:
    """Raises Failed for what cannot be written, and OSError when the connection has ended."""
    send(writer, message)
    await writer.drain()


def send(writer: asyncio.StreamWriter, message: Message) -> None:
    """Do what `write` does, without waiting until the other side reads."""
    line = as_line(message)
    if writer.is_closing():
        raise ConnectionResetError
    writer.write(line)


def as_line(message: Message) -> bytes:
    try:
        line = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"
    except (ValueError, RecursionError) as error:
        raise Failed(f"this cannot be written as JSON: {error}") from None
    if len(line) > MAX_LINE_BYTES:
        raise Failed(f"{len(line)} bytes are more than the {MAX_LINE_BYTES} of one message")
    return line

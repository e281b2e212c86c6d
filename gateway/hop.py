"""Requests from one process of contextd to another: JSON objects, one a line.

A request is `{"id", "method", "params"}`. What belongs to it carries its id: `progress`, any number
of times, then `result` or `error`; and from the process that made it `cancel`. Neither side is
distrusted, so nothing is validated here, which keeps a call quick.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextvars import Context
from functools import partial
from itertools import count
from typing import Any

from opentelemetry import context as telemetry_context
from opentelemetry import propagate

from contextd.mcp.pipes import Lines

MAX_LINE_BYTES = 64 * 1024 * 1024
"""More than the doors let in, and than an answer of an upstream becomes."""
MAX_QUEUED_PROGRESS = 100
CHUNK_BYTES = 64 * 1024
UNEXPECTED = "the call failed inside the gateway; see its log"

Message = dict[str, Any]
Params = dict[str, Any]
Report = Callable[[float, float | None, str | None], Awaitable[None]]
Handler = Callable[[Params, Report], Awaitable[dict[str, Any]]]

logger = logging.getLogger(__name__)


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
        request = {"id": request_id, "method": method, "params": params, **current_trace()}
        inbox = self._inboxes[request_id] = asyncio.Queue()
        try:
            async with asyncio.timeout(seconds):
                await write(self._writer, request)
                return await result_in(inbox, report)
        except (TimeoutError, asyncio.CancelledError):
            with contextlib.suppress(OSError):
                send(self._writer, {"id": request_id, "cancel": True})
            raise
        except OSError:
            raise Closed from None
        finally:
            del self._inboxes[request_id]

    async def _receive(self, reader: asyncio.StreamReader) -> None:
        try:
            async for message in messages_from(reader):
                inbox = self._inboxes.get(message["id"])
                if inbox and ("progress" not in message or inbox.qsize() < MAX_QUEUED_PROGRESS):
                    inbox.put_nowait(message)
        finally:
            self._writer.close()
            for inbox in self._inboxes.values():
                inbox.put_nowait(None)


async def result_in(
    inbox: "asyncio.Queue[Message | None]", report: Report | None
) -> dict[str, Any]:
    while message := await inbox.get():
        if "error" in message:
            raise Failed(**message["error"])
        if "result" in message:
            result: dict[str, Any] = message["result"]
            return result
        if report:
            await report(*message["progress"])
    raise Closed


async def serve(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handlers: Mapping[str, Handler]
) -> None:
    """Answer requests until the other side ends the connection; then cancel what still runs."""
    running: dict[int, asyncio.Task[None]] = {}
    try:
        async for message in messages_from(reader):
            request_id = message["id"]
            if "cancel" not in message:
                task = asyncio.create_task(answer(message, writer, handlers))
                running[request_id] = task
                task.add_done_callback(partial(forget, running, request_id))
            elif request_id in running:
                running[request_id].cancel()
    finally:
        for task in running.values():
            task.cancel()
        await asyncio.gather(*running.values(), return_exceptions=True)


def forget(
    running: "dict[int, asyncio.Task[None]]", request_id: int, task: "asyncio.Task[None]"
) -> None:
    del running[request_id]


async def answer(
    request: Message, writer: asyncio.StreamWriter, handlers: Mapping[str, Handler]
) -> None:
    request_id = request["id"]

    async def report(done: float, total: float | None, message: str | None) -> None:
        await write(writer, {"id": request_id, "progress": [done, total, message]})

    try:
        with continued(request.get("trace", {})):
            result = await handlers[request["method"]](request["params"], report)
        await write(writer, {"id": request_id, "result": result})
    except OSError:
        pass  # nobody waits for the answer any more
    except Exception as error:
        await write(writer, {"id": request_id, "error": as_error(error)})


def as_error(error: Exception) -> dict[str, Any]:
    if isinstance(error, Failed):
        return {"message": error.message, "category": error.category, "cause": error.cause}
    logger.error("a request failed", exc_info=error)
    return {"message": UNEXPECTED}


async def messages_from(reader: asyncio.StreamReader) -> AsyncIterator[Message]:
    """Yield messages until the connection ends."""
    lines = Lines(MAX_LINE_BYTES)
    try:
        while chunk := await reader.read(CHUNK_BYTES):
            for line in lines.feed(chunk):
                if line is None:
                    return  # no process of ours writes such a line
                yield json.loads(line)
    except OSError:
        return


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
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
    except (ValueError, RecursionError) as error:
        raise Failed(f"this cannot be written as JSON: {error}") from None
    if len(line) > MAX_LINE_BYTES:
        raise Failed(f"{len(line)} bytes are more than the {MAX_LINE_BYTES} of one message")
    return line


def current_trace() -> dict[str, Any]:
    """Return the trace of the caller as a part of a request, if there is one."""
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return {"trace": carrier} if carrier else {}


@contextlib.contextmanager
def continued(trace: Mapping[str, str]) -> Iterator[None]:
    """Run the block as a part of the trace of the caller."""
    token = telemetry_context.attach(propagate.extract(trace))
    try:
        yield
    finally:
        telemetry_context.detach(token)

"""JSON-RPC messages, one per line, on a pair of pipes."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from pydantic_core import from_json

from contextd.errors import Invalid
from contextd.lines import LineSplitter
from contextd.mcp import batches, envelope
from contextd.mcp.lifecycle import Lifecycle, cancelled_by

MAX_LINE_BYTES = 10 * 1024 * 1024
BYTES_PER_READ = 64 * 1024
MAX_QUEUED_LINES = 16
SETTLE_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line, or an element of a batch, that is not a message."""

    code: int
    why: str


Read = JSONRPCMessage | Unreadable
Line = Read | list[Read]


def lines_of(descriptor: int) -> Iterator[Line]:
    """Yield all lines except blank ones until the input ends."""
    lines = LineSplitter(MAX_LINE_BYTES)
    while chunk := os.read(descriptor, BYTES_PER_READ):
        for line in lines.feed(chunk):
            if line is None:
                yield Unreadable(
                    INVALID_REQUEST, f"the message is larger than {MAX_LINE_BYTES} bytes"
                )
            elif line.strip():
                yield read(line)
    if lines.end().strip():
        yield read(lines.end())


def read(line: bytes) -> Line:
    try:
        content = from_json(line)
    except ValueError:
        return Unreadable(PARSE_ERROR, "the line is not JSON")
    return [one(part) for part in content] if isinstance(content, list) else one(content)


def one(content: Any) -> Read:
    try:
        return envelope.message_in(content)
    except Invalid as error:
        return Unreadable(INVALID_REQUEST, error.message)


Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def connected(source: int, wire: BinaryIO) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """Return the streams of a server that serves these pipes, until `source` ends."""
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    connection = Connection(to_server, outgoing.clone(), wire)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(connection.take_in, reading(source))
        tasks.start_soon(connection.give_out, from_server)
        yield incoming, outgoing


async def reading(source: int) -> AsyncIterator[Line]:
    """Read and parse in a separate thread, which blocks while the pipe is silent."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Line | None] = asyncio.Queue(MAX_QUEUED_LINES)

    def pass_on() -> None:
        for line in lines_of(source):
            asyncio.run_coroutine_threadsafe(queue.put(line), loop).result()
        asyncio.run_coroutine_threadsafe(queue.put(None), loop)

    threading.Thread(target=pass_on, name="standard-input", daemon=True).start()
    while (line := await queue.get()) is not None:
        yield line


class Batch:
    """The answers to the messages of a batch, sent together."""

    def __init__(self) -> None:
        self._awaited: set[str] = set()
        self._answers: list[str] = []
        self.is_whole = False
        """Whether all of its messages have been accepted."""

    def expect(self, request_id: RequestId) -> None:
        self._awaited.add(str(request_id))

    def add(self, answer: str, request_id: RequestId | None = None) -> None:
        self._answers.append(answer)
        self._awaited.discard(str(request_id))

    def leave_out(self, request_id: str) -> None:
        """Expect no answer to a request, since it was cancelled."""
        self._awaited.discard(request_id)

    def line(self) -> str | None:
        """Return all answers as one line; None if there are none or some are still missing."""
        is_complete = self.is_whole and not self._awaited
        return f"[{','.join(self._answers)}]" if is_complete and self._answers else None


class Connection:
    """Forwards messages to the server or refuses them, and writes the answers."""

    def __init__(
        self, to_server: MemoryObjectSendStream[Any], to_client: Outgoing, wire: BinaryIO
    ) -> None:
        self._to_server, self._to_client, self._wire = to_server, to_client, wire
        self._lifecycle = Lifecycle()
        self._batches: dict[str, Batch] = {}
        self._writing = anyio.Lock()
        self._answered = anyio.Event()

    async def take_in(self, lines: AsyncIterator[Line]) -> None:
        async with self._to_server, self._to_client:
            async for line in lines:
                if isinstance(line, list):
                    await self._take_all(line)
                else:
                    await self._take(line)
            await self._settle()

    async def _settle(self) -> None:
        """Wait for the answers to the calls that are running when the input ends."""
        with anyio.move_on_after(SETTLE_SECONDS):
            while self._lifecycle.is_busy:
                await self._answered.wait()

    async def give_out(self, answers: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with answers:
            async for answer in answers:
                self._lifecycle.answered(answer.message)
                await self._write(self._line_of(answer.message))
                self._answered.set()
                self._answered = anyio.Event()

    async def _take_all(self, messages: list[Read]) -> None:
        try:
            batches.check(messages, self._lifecycle.version)
        except Invalid as error:
            await self._take(Unreadable(INVALID_REQUEST, error.message))
            return
        batch = Batch()
        for message in messages:
            await self._take(message, batch)
        batch.is_whole = True
        await self._write(batch.line())

    async def _take(self, message: Read, batch: Batch | None = None) -> None:
        refusal = self._refusal(message)
        if refusal is not None and batch is None:
            await self._to_client.send(SessionMessage(refusal))
        elif refusal is not None and batch is not None:
            batch.add(as_text(refusal))
        elif not isinstance(message, Unreadable):
            if batch is not None and isinstance(message, JSONRPCRequest):
                batch.expect(message.id)
                self._batches[str(message.id)] = batch
            await self._to_server.send(SessionMessage(message))
            await self._leave_out_cancelled(message)

    async def _leave_out_cancelled(self, message: JSONRPCMessage) -> None:
        """Complete the batch of the request that the message cancels, which is never answered."""
        cancelled = cancelled_by(message)
        if cancelled is not None and (batch := self._batches.pop(cancelled, None)):
            batch.leave_out(cancelled)
            await self._write(batch.line())

    def _refusal(self, message: Read) -> JSONRPCError | None:
        """Return the refusal of the message, if any, with a null id if the message has none."""
        if isinstance(message, Unreadable):
            return refused(message.code, message.why)
        if self._lifecycle.is_running(message):
            # Its answer would be taken for that of the other request.
            return refused(INVALID_REQUEST, "a request with this id is running")
        if why := self._lifecycle.refusal(message):
            return refused(INVALID_REQUEST, why, getattr(message, "id", None))
        return None

    def _line_of(self, message: JSONRPCMessage) -> str | None:
        """Return the line to write, or None while the rest of its batch is missing."""
        if not isinstance(message, JSONRPCResponse | JSONRPCError):
            return as_text(message)
        batch = self._batches.pop(str(message.id), None)
        if batch is None:
            return as_text(message)
        batch.add(as_text(message), message.id)
        return batch.line()

    async def _write(self, line: str | None) -> None:
        if line is None:
            return
        async with self._writing:
            # A client that does not read must not block the event loop.
            await anyio.to_thread.run_sync(self._put, line.encode() + b"\n")

    def _put(self, line: bytes) -> None:
        self._wire.write(line)
        self._wire.flush()


def as_text(message: JSONRPCMessage) -> str:
    return message.model_dump_json(by_alias=True, exclude_unset=True)


def refused(code: int, why: str, request_id: RequestId | None = None) -> JSONRPCError:
    error = ErrorData(code=code, message=why)
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=error)

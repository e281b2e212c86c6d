"""Messages of JSON-RPC, one a line, on a pair of pipes."""

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
    JSONRPCNotification,
    RequestId,
)
from mcp.types.jsonrpc import jsonrpc_message_adapter
from pydantic import ValidationError
from pydantic_core import from_json

from contextd.mcp import batches
from contextd.mcp.lifecycle import Lifecycle

MAX_LINE = 10 * 1024 * 1024
CHUNK = 64 * 1024
BACKLOG = 16


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line, or a part of one, that holds no message."""

    code: int
    why: str


Read = JSONRPCMessage | Unreadable
Line = Read | list[Read]


class Lines:
    """Cuts what comes into lines; of one that is too long, nothing is kept."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._rest = bytearray()
        self._is_skipping = False

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        """The lines that are complete now; None for one that is too long."""
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            if not self._is_skipping:
                yield self._kept(part)
            self._rest.clear()
            self._is_skipping = False
        if not self._is_skipping and self._kept(rest) is None:
            self._is_skipping = True
            self._rest.clear()
            yield None
        elif not self._is_skipping:
            self._rest += rest

    def end(self) -> bytes:
        """What no line feed came after."""
        return bytes(self._rest)

    def _kept(self, part: bytes) -> bytes | None:
        return bytes(self._rest + part) if len(self._rest) + len(part) <= self._limit else None


def lines_of(descriptor: int) -> Iterator[Line]:
    """What is read until the end; blank lines say nothing."""
    lines = Lines()
    while chunk := os.read(descriptor, CHUNK):
        for line in lines.feed(chunk):
            if line is None:
                yield Unreadable(INVALID_REQUEST, f"the message is larger than {MAX_LINE} bytes")
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
        message = jsonrpc_message_adapter.validate_python(content, by_name=False)
    except ValidationError:
        return Unreadable(INVALID_REQUEST, "this is not a JSON-RPC 2.0 message")
    if isinstance(message, JSONRPCNotification) and "id" in content:
        return Unreadable(INVALID_REQUEST, "the id of a request must be a string or an integer")
    return message


Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def connected(source: int, wire: BinaryIO) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """The streams of a server that is talked to on these pipes, until `source` ends."""
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    connection = Connection(to_server, outgoing.clone(), wire)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(connection.take_in, reading(source))
        tasks.start_soon(connection.give_out, from_server)
        yield incoming, outgoing


async def reading(source: int) -> AsyncIterator[Line]:
    """Read and parse in a thread of its own, which a pipe that stays silent holds up alone."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Line | None] = asyncio.Queue(BACKLOG)

    def pass_on() -> None:
        for line in lines_of(source):
            asyncio.run_coroutine_threadsafe(queue.put(line), loop).result()
        asyncio.run_coroutine_threadsafe(queue.put(None), loop)

    threading.Thread(target=pass_on, name="standard-input", daemon=True).start()
    while (line := await queue.get()) is not None:
        yield line


class Connection:
    """Passes on what may pass, answers the rest itself, and writes what is answered."""

    def __init__(
        self, to_server: MemoryObjectSendStream[Any], to_client: Outgoing, wire: BinaryIO
    ) -> None:
        self._to_server, self._to_client, self._wire = to_server, to_client, wire
        self._lifecycle = Lifecycle()

    async def take_in(self, lines: AsyncIterator[Line]) -> None:
        async with self._to_server, self._to_client:
            async for line in lines:
                if not isinstance(line, list):
                    await self._take(line)
                elif self._lifecycle.version == batches.VERSION and line:
                    for message in line[: batches.MOST]:
                        await self._take(message)
                else:
                    why = f"this is a batch, which only {batches.VERSION} knows"
                    await self._take(Unreadable(INVALID_REQUEST, why))

    async def give_out(self, answers: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with answers:
            async for answer in answers:
                self._lifecycle.answered(answer.message)
                text = answer.message.model_dump_json(by_alias=True, exclude_unset=True)
                # A client that does not read must not stop the rest.
                await anyio.to_thread.run_sync(self._write, text.encode() + b"\n")

    def _write(self, line: bytes) -> None:
        self._wire.write(line)
        self._wire.flush()

    async def _take(self, message: Read) -> None:
        if isinstance(message, Unreadable):
            await self._refuse(message.code, message.why)
        elif self._lifecycle.is_running(message):
            # With that id, it would be taken for the answer to the other one.
            await self._refuse(INVALID_REQUEST, "a request with this id is running")
        elif why := self._lifecycle.refusal(message):
            await self._refuse(INVALID_REQUEST, why, getattr(message, "id", None))
        else:
            await self._to_server.send(SessionMessage(message))

    async def _refuse(self, code: int, why: str, request_id: RequestId | None = None) -> None:
        """The id is null where none could be read."""
        error = ErrorData(code=code, message=why)
        refusal = JSONRPCError(jsonrpc="2.0", id=request_id, error=error)
        await self._to_client.send(SessionMessage(refusal))

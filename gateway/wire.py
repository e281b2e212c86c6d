"""Exchange JSON-RPC messages, one per line, with a peer that may be untrusted."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from django.conf import settings
from mcp import MCPError
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    RequestId,
)
from mcp.types.jsonrpc import jsonrpc_message_adapter

from contextd.mcp import sdk
from gateway import salvage

MAX_SKIPPED_BYTES = 64 * 1024 * 1024
"""How much of an oversized line is read to find the id at its end."""
END_BYTES = 1000
"""What is kept of the beginning and of the end of such a line."""
MAX_SENT_LINE_BYTES = 64 * 1024 * 1024
"""Above the limit of client requests."""
CHUNK_BYTES = 64 * 1024
NOT_SENT = -32015
"""The code of a request that the peer cannot have received."""
SESSION_OVER = -32016
"""The code of a request that an HTTP server refuses since it no longer knows our session."""
REFUSED_REQUEST = {"category": "validation"}
"""The data of the error of a request that cannot be written."""

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
FromPeer = MemoryObjectSendStream[SessionMessage | Exception]
ToPeer = MemoryObjectReceiveStream[SessionMessage]


@dataclass(frozen=True, slots=True)
class Peer:
    """Reads and writes the bytes of a peer; `read` returns none at its end."""

    read: Callable[[], Awaitable[bytes]]
    write: Callable[[bytes], Awaitable[None]]
    note: Callable[[str], str]
    """Receives each line that is not a message, and why the connection was ended.

    Returns the text as it may be quoted.
    """


@dataclass(frozen=True, slots=True)
class Outgoing(sdk.Outgoing):
    """The stream of a session to its peer."""

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message. Raises MCPError with NOT_SENT for a request after the peer's end."""
        try:
            await self.stream.send(item)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            if isinstance(item.message, JSONRPCRequest):
                raise MCPError(NOT_SENT, "the connection has ended; nothing was sent") from None
            raise


Streams = tuple[Incoming, Outgoing]


@dataclass(frozen=True, slots=True)
class LongLine:
    """The ends of a line that is too long."""

    beginning: bytes
    end: bytes


class SalvagingLineSplitter:
    """Splits what a peer writes into lines, of which those that are too long are not kept."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept, self._end = bytearray(), b""
        self._length = 0

    def feed(self, chunk: bytes) -> Iterator[bytes | LongLine]:
        """Yield the lines that are complete. Raises Unattributable for too long a non-message."""
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            self._add(part)
            yield self._taken()
        self._add(rest)

    @property
    def _is_long(self) -> bool:
        return self._length > self._limit

    def _add(self, part: bytes) -> None:
        self._length += len(part)
        if not self._is_long:
            self._kept += part
            return
        before = self._end or bytes(self._kept[-END_BYTES:])
        self._end = (before + part)[-END_BYTES:]
        self._kept += part[:END_BYTES]
        del self._kept[END_BYTES:]
        is_message = self._kept.removeprefix(salvage.BYTE_ORDER_MARK).lstrip().startswith(b"{")
        if not is_message or self._length > MAX_SKIPPED_BYTES:
            raise salvage.Unattributable(f"it wrote a line of more than {self._limit} bytes")

    def _taken(self) -> bytes | LongLine:
        kept = bytes(self._kept)
        line = LongLine(kept, self._end) if self._is_long else kept
        self._kept, self._end, self._length = bytearray(), b"", 0
        return line


def max_message_bytes() -> int:
    mebibytes: int = settings.CONTEXTD_GATEWAY_MESSAGE_MB
    return mebibytes * 1024 * 1024


@asynccontextmanager
async def connected(peer: Peer, ended: anyio.Event | None = None) -> AsyncIterator[Streams]:
    """Yield the streams for a session with the peer.

    `ended` is set as soon as the peer neither sends nor receives.
    """
    to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    ended = ended or anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(receive, peer, to_session, ended)
        tasks.start_soon(transmit, peer, from_session, to_session, ended)
        try:
            yield incoming, Outgoing(outgoing)
        finally:
            incoming.close()
            outgoing.close()
            tasks.cancel_scope.cancel()


async def receive(peer: Peer, to_session: FromPeer, ended: anyio.Event) -> None:
    """Pass on the messages of the peer until it ends or breaks the protocol."""
    async with to_session:
        try:
            async for message in messages_from(peer):
                await to_session.send(message)
        except salvage.Unattributable as error:
            peer.note(str(error))
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # treated as its end
        finally:
            ended.set()


async def messages_from(peer: Peer) -> AsyncIterator[SessionMessage]:
    """Yield the peer's messages, and refusals in place of unreadable answers.

    Raises Unattributable if a call might otherwise wait without an answer.
    """
    lines = SalvagingLineSplitter(max_message_bytes())
    while chunk := await peer.read():
        for line in lines.feed(chunk):
            if isinstance(line, LongLine):
                message = refusal_of(line, peer)
            else:
                message = message_in(line, peer)
            if message:
                yield message


def refusal_of(line: LongLine, peer: Peer) -> SessionMessage | None:
    """Return what ends the call that the line answers, if it is an answer. Raises Unattributable"""
    why = too_large()
    peer.note(f"a message is {why}")
    request_id = salvage.call_answered_at_length(line.beginning, line.end)
    return None if request_id is None else refusal(request_id, PARSE_ERROR, f"the answer is {why}")


def too_large() -> str:
    return f"larger than {max_message_bytes()} bytes (CONTEXTD_GATEWAY_MESSAGE_MB)"


def message_in(line: bytes, peer: Peer) -> SessionMessage | None:
    """Return the message, or the refusal that ends the call whose answer cannot be read.

    None for a line that is neither. Raises Unattributable.
    """
    if not line.strip():
        return None
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        text = line.decode(errors="replace")
        noted = peer.note(f"not a JSON-RPC message that can be read: {text}")
        request_id = salvage.call_answered_by(line)
        if request_id is None:
            return None
        return refusal(request_id, PARSE_ERROR, f"the answer is {noted}")
    if isinstance(message, JSONRPCError) and message.id is None:
        peer.note(f"it refuses a message: {message.error.message}")
    return SessionMessage(message)


def refusal(request_id: RequestId, code: int, why: str, data: Any = None) -> SessionMessage:
    error = ErrorData(code=code, message=why, data=data)
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=request_id, error=error))


async def transmit(
    peer: Peer, from_session: ToPeer, to_session: FromPeer, ended: anyio.Event
) -> None:
    """Write the session's messages until the peer stops accepting them."""
    async with from_session:
        async for message in from_session:
            try:
                line = as_line(message.message)
            except ValueError as error:
                line = await refuse(message.message, str(error), to_session)
            if len(line) > MAX_SENT_LINE_BYTES:
                why = f"{len(line)} bytes are more than the {MAX_SENT_LINE_BYTES} of one message"
                line = await refuse(message.message, why, to_session)
            try:
                await peer.write(line)
            except OSError:
                ended.set()
                return


def as_line(message: JSONRPCMessage) -> bytes:
    """Encode a message. Raises ValueError for values that JSON cannot represent."""
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


async def refuse(message: JSONRPCMessage, why: str, to_session: FromPeer) -> bytes:
    """Fail the call of a message that cannot be sent; return what to write in its place."""
    if isinstance(message, JSONRPCNotification) or message.id is None:
        return b""
    if not isinstance(message, JSONRPCRequest):
        return as_line(refusal(message.id, INVALID_REQUEST, f"the answer: {why}").message)
    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        await to_session.send(
            refusal(message.id, INVALID_REQUEST, f"the arguments: {why}", REFUSED_REQUEST)
        )
    return b""

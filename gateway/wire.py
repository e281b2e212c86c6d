"""Messages of JSON-RPC, one a line, from and to a peer that may not be trusted."""

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
)
from mcp.types.jsonrpc import jsonrpc_message_adapter

from contextd.mcp.pipes import Lines

LONGEST_LINE = 4 * 1024 * 1024
LONGEST_OF_OURS = 64 * 1024 * 1024
"""Between processes of our own: more than the doors let in and an upstream's answer becomes."""
CHUNK = 64 * 1024
LONGEST_NOISE = 500

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]
Streams = tuple[Incoming, Outgoing]


def ignore(line: str) -> None:
    """For a peer of our own, which says nothing else."""


@dataclass(frozen=True, slots=True)
class Peer:
    """How bytes come from it and go to it; nothing comes when it has ended."""

    read: Callable[[], Awaitable[bytes]]
    write: Callable[[bytes], Awaitable[None]]
    note: Callable[[str], None] = ignore
    """Told of each line that is no message, and why the peer is not listened to any more."""
    longest: int = LONGEST_LINE
    """Of its lines, in bytes."""


@asynccontextmanager
async def connected(peer: Peer, ended: anyio.Event | None = None) -> AsyncIterator[Streams]:
    """The streams for a session with the peer; `ended` is set when nothing comes any more."""
    to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(take_in, peer, to_session, ended or anyio.Event())
        tasks.start_soon(give_out, peer, from_session, to_session)
        try:
            yield incoming, outgoing
        finally:
            incoming.close()
            outgoing.close()
            tasks.cancel_scope.cancel()


async def take_in(
    peer: Peer, to_session: MemoryObjectSendStream[SessionMessage | Exception], ended: anyio.Event
) -> None:
    lines = Lines(peer.longest)
    try:
        async with to_session:
            while chunk := await peer.read():
                for line in lines.feed(chunk):
                    if line is None:
                        peer.note(f"it wrote a line of more than {peer.longest} bytes")
                        return
                    if message := message_in(line, peer):
                        await to_session.send(message)
    except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # the same as its end
    finally:
        ended.set()


def message_in(line: bytes, peer: Peer) -> SessionMessage | None:
    if not line.strip():
        return None
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        peer.note(f"not a message: {line[:LONGEST_NOISE].decode(errors='replace')}")
        return no_answer(line)


def no_answer(line: bytes) -> SessionMessage | None:
    """For whoever waits for the answer that the line should have been."""
    try:
        meant = json.loads(line)
    except (ValueError, RecursionError):
        return None
    request_id = meant.get("id") if isinstance(meant, dict) and "method" not in meant else None
    if isinstance(request_id, bool) or not isinstance(request_id, int | str):
        return None
    told = f"the answer is no message of JSON-RPC: {line[:LONGEST_NOISE].decode(errors='replace')}"
    return refusal(request_id, PARSE_ERROR, told)


def refusal(
    request_id: int | str, code: int, why: str, category: str = "internal"
) -> SessionMessage:
    error = ErrorData(code=code, message=why, data={"category": category})
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=request_id, error=error))


async def give_out(
    peer: Peer,
    from_session: MemoryObjectReceiveStream[SessionMessage],
    to_session: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    async with from_session:
        async for message in from_session:
            line = as_line(message.message)
            if len(line) > LONGEST_OF_OURS:
                line = await refuse(message.message, len(line), to_session)
            try:
                await peer.write(line)
            except OSError:
                return


def as_line(message: JSONRPCMessage) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


async def refuse(
    message: JSONRPCMessage,
    length: int,
    to_session: MemoryObjectSendStream[SessionMessage | Exception],
) -> bytes:
    """What is written instead of a message that is too long; its call alone fails."""
    if isinstance(message, JSONRPCNotification) or message.id is None:
        return b""
    told = f"{length} bytes are more than the {LONGEST_OF_OURS} that one message may have"
    if not isinstance(message, JSONRPCRequest):
        return as_line(refusal(message.id, INVALID_REQUEST, f"the answer: {told}").message)
    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        await to_session.send(
            refusal(message.id, INVALID_REQUEST, f"the arguments: {told}", "validation")
        )
    return b""

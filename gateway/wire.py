"""Messages of JSON-RPC, one a line, from and to a peer that may not be trusted."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types.jsonrpc import jsonrpc_message_adapter

from contextd.mcp.pipes import Lines

LONGEST_LINE = 4 * 1024 * 1024
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


@asynccontextmanager
async def connected(peer: Peer, ended: anyio.Event | None = None) -> AsyncIterator[Streams]:
    """The streams for a session with the peer; `ended` is set when nothing comes any more."""
    to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(take_in, peer, to_session, ended or anyio.Event())
        tasks.start_soon(give_out, peer, from_session)
        try:
            yield incoming, outgoing
        finally:
            incoming.close()
            outgoing.close()
            tasks.cancel_scope.cancel()


async def take_in(
    peer: Peer, to_session: MemoryObjectSendStream[SessionMessage | Exception], ended: anyio.Event
) -> None:
    lines = Lines(LONGEST_LINE)
    try:
        async with to_session:
            while chunk := await peer.read():
                for line in lines.feed(chunk):
                    if line is None:
                        peer.note(f"it wrote a line of more than {LONGEST_LINE} bytes")
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
        return None


async def give_out(peer: Peer, from_session: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async with from_session:
        async for message in from_session:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                await peer.write(text.encode() + b"\n")
            except OSError:
                return

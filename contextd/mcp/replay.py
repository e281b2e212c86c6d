"""Keep the events of one session, to replay them to a client whose connection broke."""

import secrets
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from mcp.server.streamable_http import GET_STREAM_KEY, EventCallback, EventMessage, EventStore
from mcp.types import JSONRPCMessage

MAX_EVENTS = 200
MAX_BYTES = 1024 * 1024
STANDALONE = "standalone"
RETRY_MILLISECONDS = 1000
"""How long a client waits before it reconnects after its stream has ended."""


def is_of_standalone_stream(event_id: str) -> bool:
    """Return whether the event was sent on a standalone stream, of this process or another."""
    return event_id.startswith(f"{STANDALONE}-")


@dataclass(frozen=True, slots=True)
class Event:
    stream_id: str
    message: JSONRPCMessage | None
    size: int


class Replay(EventStore):
    """The newest events of one session, limited by number and size.

    Each session has its own, since stream ids are unique only within a session.
    """

    def __init__(self) -> None:
        self._events: OrderedDict[str, Event] = OrderedDict()
        self._size = 0

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        size = len(message.model_dump_json()) if message else 0
        kind = STANDALONE if stream_id == GET_STREAM_KEY else "call"
        event_id = f"{kind}-{secrets.token_urlsafe(12)}"
        self._events[event_id] = Event(stream_id, message, size)
        self._size += size
        while len(self._events) > MAX_EVENTS or self._size > MAX_BYTES:
            _, oldest = self._events.popitem(last=False)
            self._size -= oldest.size
        return event_id

    def has(self, event_id: str | None) -> bool:
        return event_id in self._events

    async def begin_with(self, messages: Iterable[JSONRPCMessage]) -> str:
        """Store the messages of a new standalone stream; return the event that they follow."""
        start = await self.store_event(GET_STREAM_KEY, None)
        for message in messages:
            await self.store_event(GET_STREAM_KEY, message)
        return start

    async def replay_events_after(
        self, last_event_id: str, send_callback: EventCallback
    ) -> str | None:
        if last_event_id not in self._events:
            return None
        stream_id = self._events[last_event_id].stream_id
        ids = list(self._events)
        for event_id in ids[ids.index(last_event_id) + 1 :]:
            event = self._events.get(event_id)
            if event and event.stream_id == stream_id and event.message:
                await send_callback(EventMessage(event.message, event_id))
        return stream_id

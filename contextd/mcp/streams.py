"""The streams of 2026-07-28 that clients listen on, and what is told on each of them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

import anyio
from mcp import MCPError
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)

from contextd import changes
from contextd.bus import Change, Kind
from contextd.callers import Caller
from contextd.errors import ContextdError
from contextd.mcp.resources import Resources
from contextd.mcp.tools import Context, Renew

MOST_STREAMS = 1024
MOST_SUBSCRIPTIONS = 100

Reader = Callable[[], Awaitable[Caller]]
"""Who listens, with what they may do by now."""

LIST_CHANGED: dict[Kind, ServerEvent] = {
    "tools": ToolsListChanged(),
    "prompts": PromptsListChanged(),
    "resources": ResourcesListChanged(),
}


@dataclass(frozen=True, eq=False)
class Stream:
    uris: frozenset[str]
    reader: Reader
    bus: InMemorySubscriptionBus


class Streams:
    """Serves `subscriptions/listen`."""

    def __init__(self, resources: Resources, renew: Renew) -> None:
        self._resources, self._renew = resources, renew
        self._open: set[Stream] = set()

    async def listen(
        self, ctx: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        uris = [str(uri) for uri in params.notifications.resource_subscriptions or ()]
        if len(uris) > MOST_SUBSCRIPTIONS:
            raise MCPError(INVALID_PARAMS, f"one stream has at most {MOST_SUBSCRIPTIONS} resources")
        if len(self._open) >= MOST_STREAMS:
            raise MCPError(INTERNAL_ERROR, "too many clients listen here; try again later")
        await self._resources.check(ctx, uris)
        bus = InMemorySubscriptionBus()
        stream = Stream(frozenset(uris), partial(self._renew, ctx), bus)
        self._open.add(stream)
        try:
            return await ListenHandler(bus)(ctx, params)
        finally:
            self._open.discard(stream)

    async def tell(self, change: Change) -> None:
        """A resource is told of to those who can read it by now."""
        if change.uri is None:
            for stream in list(self._open):
                await stream.bus.publish(LIST_CHANGED[change.kind])
            return
        async with anyio.create_task_group() as telling:
            for stream in list(self._open):
                for uri in stream.uris:
                    if changes.concerns(change.uri, uri):
                        telling.start_soon(self._tell_of, uri, stream)

    async def _tell_of(self, uri: str, stream: Stream) -> None:
        if await may_read(stream.reader, uri, self._resources):
            await stream.bus.publish(ResourceUpdated(uri))


async def may_read(reader: Reader, uri: str, resources: Resources) -> bool:
    try:
        caller = await reader()
    except ContextdError:
        return False
    return await resources.is_readable(uri, caller)

"""The streams that clients of 2026-07-28 listen on, and the changes each is notified of."""

from collections.abc import Iterable
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
    INVALID_PARAMS,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)

from contextd import changes
from contextd.bus import Change, ListName
from contextd.concurrency import PlaceLimit
from contextd.mcp.audience import Audience, Reader
from contextd.mcp.resources import Resources
from contextd.mcp.tools import Context, Renew
from contextd.sessions import MAX_SUBSCRIPTIONS

MAX_STREAMS = 1024
MAX_STREAMS_PER_PRINCIPAL = 100

LIST_CHANGED: dict[ListName, ServerEvent] = {
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
        self._places = PlaceLimit(MAX_STREAMS, MAX_STREAMS_PER_PRINCIPAL)

    async def listen(
        self, ctx: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        uris = [str(uri) for uri in params.notifications.resource_subscriptions or ()]
        if len(uris) > MAX_SUBSCRIPTIONS:
            raise MCPError(INVALID_PARAMS, f"one stream has at most {MAX_SUBSCRIPTIONS} resources")
        with self._places.place(self._resources.identify(ctx).principal, "streams"):
            await self._resources.check(ctx, uris)
            return await self._serve(ctx, params, uris)

    async def _serve(
        self, ctx: Context, params: SubscriptionsListenRequestParams, uris: list[str]
    ) -> SubscriptionsListenResult:
        bus = InMemorySubscriptionBus()
        stream = Stream(frozenset(uris), partial(self._renew, ctx), bus)
        self._open.add(stream)
        try:
            return await ListenHandler(bus)(ctx, params)
        finally:
            self._open.discard(stream)

    async def notify(self, change: Change, audience: Audience) -> None:
        """Announce the change; a change of a resource only to callers that may still read it."""
        if change.uri is None:
            for stream in list(self._open):
                await stream.bus.publish(LIST_CHANGED[change.kind])
            return
        async with anyio.create_task_group() as tasks:
            for stream in list(self._open):
                if uris := [uri for uri in stream.uris if changes.concerns(change.uri, uri)]:
                    tasks.start_soon(notify_of, uris, stream, audience)


async def notify_of(uris: Iterable[str], stream: Stream, audience: Audience) -> None:
    for uri in uris:
        if await audience.may_read(stream.reader, uri):
            await stream.bus.publish(ResourceUpdated(uri))

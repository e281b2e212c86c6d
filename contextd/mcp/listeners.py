"""Tells connected clients what has changed: each in the way of its protocol version."""

import asyncio
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

from contextd import changes
from contextd.changes import Change
from contextd.mcp.tools import Context

# A client that does not read must not keep the others waiting.
SEND_SECONDS = 5
SUBSCRIPTIONS = "contextd.subscriptions"

LIST_CHANGED: dict[changes.Kind, ServerEvent] = {
    "tools": ToolsListChanged(),
    "prompts": PromptsListChanged(),
    "resources": ResourcesListChanged(),
}


class Listeners:
    """The clients of this process: connections of the older versions, streams of the newest."""

    def __init__(self) -> None:
        self._connections: weakref.WeakSet[Connection] = weakref.WeakSet()
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus)

    @asynccontextmanager
    async def running(self, server: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        """Pass on changes as long as the server runs."""
        loop = asyncio.get_running_loop()
        news: asyncio.Queue[Change] = asyncio.Queue()

        def pass_on(change: Change) -> None:
            loop.call_soon_threadsafe(news.put_nowait, change)

        end = changes.subscribe(pass_on)
        telling = asyncio.create_task(self._tell_all(news))
        try:
            yield {}
        finally:
            end()
            telling.cancel()

    async def note(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Middleware: remember the connection that a message came by.

        Any message will do, since a session may have been opened in another process.
        """
        if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            self._connections.add(connection_of(ctx))
        return await call_next(ctx)

    async def subscribe(self, ctx: Context, params: SubscribeRequestParams) -> EmptyResult:
        subscriptions_of(connection_of(ctx)).add(str(params.uri))
        return EmptyResult()

    async def unsubscribe(self, ctx: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        subscriptions_of(connection_of(ctx)).discard(str(params.uri))
        return EmptyResult()

    async def _tell_all(self, news: "asyncio.Queue[Change]") -> None:
        while True:
            change = await news.get()
            await self._bus.publish(event_of(change))
            async with anyio.create_task_group() as telling:
                for connection in list(self._connections):
                    if concerns(connection, change):
                        telling.start_soon(tell, connection, change)


def connection_of(ctx: Context) -> Connection:
    # Each request has a session object of its own; what they share is not public.
    return ctx.session._connection


def subscriptions_of(connection: Connection) -> set[str]:
    uris: set[str] = connection.state.setdefault(SUBSCRIPTIONS, set())
    return uris


def event_of(change: Change) -> ServerEvent:
    return LIST_CHANGED[change.kind] if change.uri is None else ResourceUpdated(change.uri)


def concerns(connection: Connection, change: Change) -> bool:
    if not connection.initialize_accepted:
        return False
    return change.uri is None or change.uri in subscriptions_of(connection)


async def tell(connection: Connection, change: Change) -> None:
    with anyio.move_on_after(SEND_SECONDS):
        if change.uri is not None:
            await connection.send_resource_updated(change.uri)
        else:
            await connection.notify(f"notifications/{change.kind}/list_changed", None)

"""Notify connected clients of changes, as each client's protocol version requires."""

import asyncio
import contextlib
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

import anyio
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult
from mcp.types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

from contextd import changes, sessions
from contextd.bus import Change, ListName
from contextd.errors import ContextdError
from contextd.mcp import sdk
from contextd.mcp.audience import Audience, Reader
from contextd.mcp.resources import Resources
from contextd.mcp.streams import Streams
from contextd.mcp.tools import Context, Renew
from contextd.validation import ensure_storable
from contextd.workers import Workers

# A burst of list changes ends after a quiet period or at the maximum duration.
QUIET_SECONDS = 0.3
MAX_BURST_SECONDS = 3.0
# A client that does not read must not delay the others.
SEND_SECONDS = 5
SUBSCRIPTIONS = "contextd.subscriptions"
READER = "contextd.reader"

Found = TypeVar("Found")
Changes = asyncio.Queue[Change]


class Listeners:
    """The clients of this process: connections up to 2025-11-25 and streams of 2026-07-28."""

    def __init__(self, workers: Workers, resources: Resources, renew: Renew) -> None:
        self._workers, self._resources, self._renew = workers, resources, renew
        self._connections: weakref.WeakSet[Connection] = weakref.WeakSet()
        self.streams = Streams(resources, renew)

    @asynccontextmanager
    async def running(self, server: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        """Notify clients of changes while the server runs."""
        loop = asyncio.get_running_loop()
        of_resources: Changes = asyncio.Queue()
        of_lists: Changes = asyncio.Queue()

        def enqueue(announcement: changes.Announcement) -> None:
            if isinstance(announcement, Change):
                queue = of_lists if announcement.uri is None else of_resources
                loop.call_soon_threadsafe(queue.put_nowait, announcement)

        end = changes.subscribe(enqueue)
        notifying = [
            asyncio.create_task(self._notify_of_resources(of_resources)),
            asyncio.create_task(self._notify_of_lists(of_lists)),
        ]
        try:
            yield {}
        finally:
            end()
            for task in notifying:
                task.cancel()

    def add(self, connection: Connection, reader: Reader) -> None:
        """Notify this connection too, as long as something else holds a reference to it."""
        connection.state[READER] = reader
        self._connections.add(connection)

    async def note(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Middleware: register the connection of each message.

        Registering only the first message would miss sessions that were opened in another process.
        """
        if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            connection = sdk.connection_of(ctx)
            if connection not in self._connections:
                self.add(connection, partial(self._renew, ctx))
        return await call_next(ctx)

    async def subscribe(self, ctx: Context, params: SubscribeRequestParams) -> EmptyResult:
        """Subscribe to a resource that the caller may read.

        Subscriptions of a session are stored, so that every process that holds the session sees
        them.
        """
        connection, uri = sdk.connection_of(ctx), str(params.uri)
        await self._resources.check(ctx, [uri])
        if connection.session_id is None:
            sessions.check_subscriptions(subscriptions_of(connection) - {uri})
            subscriptions_of(connection).add(uri)
        else:
            await self._look_up(partial(sessions.subscribe, connection.session_id, uri))
        return EmptyResult()

    async def unsubscribe(self, ctx: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        connection, uri = sdk.connection_of(ctx), str(params.uri)
        ensure_storable({"uri": uri})
        if connection.session_id is None:
            subscriptions_of(connection).discard(uri)
        else:
            await self._look_up(partial(sessions.unsubscribe, connection.session_id, uri))
        return EmptyResult()

    async def _notify_of_resources(self, queued: Changes) -> None:
        while True:
            for change in waiting(await queued.get(), queued):
                await self._notify_all(change)

    async def _notify_of_lists(self, queued: Changes) -> None:
        while True:
            for change in (await burst(queued)).values():
                await self._notify_all(change)

    async def _notify_all(self, change: Change) -> None:
        audience = Audience(self._resources)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.streams.notify, change, audience)
            for connection, uri in await self._concerned(change):
                if uri is None:
                    tasks.start_soon(notify_of_list, connection, change.kind)
                else:
                    tasks.start_soon(notify_of_resource, connection, uri, audience)

    async def _concerned(self, change: Change) -> list[tuple[Connection, str | None]]:
        """Return the connections to notify, each with the address it subscribed to, if any."""
        there = [connection for connection in self._connections if connection.initialize_accepted]
        if change.uri is None:
            return [(connection, None) for connection in there]
        ids = [connection.session_id for connection in there if connection.session_id]
        subscribed = await self._subscriptions(change.uri, ids) if ids else []
        return [
            (connection, uri)
            for connection in there
            for uri in [
                *(uri for session_id, uri in subscribed if session_id == connection.session_id),
                *(u for u in subscriptions_of(connection) if changes.concerns(change.uri, u)),
            ]
        ]

    async def _subscriptions(self, uri: str, session_ids: list[str]) -> list[tuple[str, str]]:
        try:
            return await self._look_up(partial(sessions.subscriptions, uri, session_ids))
        except ContextdError:
            # An unnecessary notification is better than a missing one.
            return [(session_id, uri) for session_id in session_ids]

    async def _look_up(self, work: Callable[[], Found]) -> Found:
        return await self._workers.run_safely("the look-up of subscriptions", work)


async def notify_of_list(connection: Connection, kind: ListName) -> None:
    with anyio.move_on_after(SEND_SECONDS):
        await connection.notify(f"notifications/{kind}/list_changed", None)


async def notify_of_resource(connection: Connection, uri: str, audience: Audience) -> None:
    if await audience.may_read(connection.state[READER], uri):
        with anyio.move_on_after(SEND_SECONDS):
            await connection.send_resource_updated(uri)


def waiting(first: Change, queued: Changes) -> list[Change]:
    """Return this change and those queued behind it, one per resource."""
    return list({change.uri: change for change in [first, *drained(queued)]}.values())


def drained(queued: Changes) -> Iterator[Change]:
    while not queued.empty():
        yield queued.get_nowait()


async def burst(queued: Changes) -> dict[ListName, Change]:
    """Wait for a burst of changes to end; return one change per list: clients list again anyway."""
    change = await queued.get()
    changed = {change.kind: change}
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(MAX_BURST_SECONDS):
            while True:
                async with asyncio.timeout(QUIET_SECONDS):
                    change = await queued.get()
                changed[change.kind] = change
    return changed


def subscriptions_of(connection: Connection) -> set[str]:
    uris: set[str] = connection.state.setdefault(SUBSCRIPTIONS, set())
    return uris

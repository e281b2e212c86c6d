"""Tells connected clients what has changed: each in the way of its protocol version."""

import asyncio
import contextlib
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

import anyio
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult
from mcp.types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

from contextd import auth, changes, sessions
from contextd.bus import Change, Kind
from contextd.errors import ContextdError
from contextd.mcp.resources import Resources
from contextd.mcp.streams import Reader, Streams, may_read
from contextd.mcp.tools import Context, Renew
from contextd.mcp.workers import Workers

# A burst of changes of lists is over when nothing has come for so long, or has lasted long enough.
QUIET_SECONDS = 0.3
LONGEST_BURST = 3.0
# A client that does not read must not keep the others waiting.
SEND_SECONDS = 5
SUBSCRIPTIONS = "contextd.subscriptions"
READER = "contextd.reader"

Found = TypeVar("Found")
News = asyncio.Queue[Change]


class Listeners:
    """The clients of this process: connections of the older versions, streams of the newest."""

    def __init__(self, workers: Workers, resources: Resources, renew: Renew) -> None:
        self._workers, self._resources, self._renew = workers, resources, renew
        self._connections: weakref.WeakSet[Connection] = weakref.WeakSet()
        self.streams = Streams(resources, renew)

    @asynccontextmanager
    async def running(self, server: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        """Pass on changes as long as the server runs."""
        loop = asyncio.get_running_loop()
        of_resources: News = asyncio.Queue()
        of_lists: News = asyncio.Queue()

        def pass_on(told: changes.Told) -> None:
            if isinstance(told, Change):
                queue = of_lists if told.uri is None else of_resources
                loop.call_soon_threadsafe(queue.put_nowait, told)

        end = changes.subscribe(pass_on)
        telling = [
            asyncio.create_task(self._tell_of_resources(of_resources)),
            asyncio.create_task(self._tell_of_lists(of_lists)),
        ]
        try:
            yield {}
        finally:
            end()
            for task in telling:
                task.cancel()

    def add(self, connection: Connection, reader: Reader) -> None:
        """To be told too, as long as somebody else keeps it."""
        connection.state[READER] = reader
        self._connections.add(connection)

    async def note(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Middleware: remember the connection that a message came by.

        Any message will do, since a session may have been opened in another process.
        """
        if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            connection = connection_of(ctx)
            if connection not in self._connections:
                self.add(connection, partial(self._renew, ctx))
        return await call_next(ctx)

    async def subscribe(self, ctx: Context, params: SubscribeRequestParams) -> EmptyResult:
        """Refused as reading is; with a session it is known to all processes that have that."""
        connection, uri = connection_of(ctx), str(params.uri)
        await self._resources.check(ctx, [uri])
        if connection.session_id is None:
            subscriptions_of(connection).add(uri)
        else:
            await self._look_up(partial(sessions.subscribe, connection.session_id, uri))
        return EmptyResult()

    async def unsubscribe(self, ctx: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        connection, uri = connection_of(ctx), str(params.uri)
        if connection.session_id is None:
            subscriptions_of(connection).discard(uri)
        else:
            await self._look_up(partial(sessions.unsubscribe, connection.session_id, uri))
        return EmptyResult()

    async def _tell_of_resources(self, news: News) -> None:
        while True:
            await self._tell_all(await news.get())

    async def _tell_of_lists(self, news: News) -> None:
        while True:
            for change in (await burst(news)).values():
                await self._tell_all(change)

    async def _tell_all(self, change: Change) -> None:
        async with anyio.create_task_group() as telling:
            telling.start_soon(self.streams.tell, change)
            for connection in await self._concerned(change):
                telling.start_soon(self._tell, connection, change)

    async def _tell(self, connection: Connection, change: Change) -> None:
        with anyio.move_on_after(SEND_SECONDS):
            if change.uri is None:
                await connection.notify(f"notifications/{change.kind}/list_changed", None)
            elif await may_read(connection.state[READER], change.uri, self._resources):
                await connection.send_resource_updated(change.uri)

    async def _concerned(self, change: Change) -> list[Connection]:
        there = [connection for connection in self._connections if connection.initialize_accepted]
        if change.uri is None:
            return there
        ids = [connection.session_id for connection in there if connection.session_id]
        subscribed = await self._subscribers(change.uri, ids) if ids else []
        return [
            connection
            for connection in there
            if connection.session_id in subscribed or change.uri in subscriptions_of(connection)
        ]

    async def _subscribers(self, uri: str, session_ids: list[str]) -> list[str]:
        try:
            return await self._look_up(partial(sessions.subscribers, uri, session_ids))
        except ContextdError:
            return session_ids  # to be told in vain is better than to miss it

    async def _look_up(self, work: Callable[[], Found]) -> Found:
        return await self._workers.run_concealed(
            "the look-up of subscriptions", work, seconds=auth.LOOKUP_SECONDS
        )


async def burst(news: News) -> dict[Kind, Change]:
    """The lists that change now, each once, however often: clients list them anew each time."""
    change = await news.get()
    changed = {change.kind: change}
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LONGEST_BURST):
            while True:
                async with asyncio.timeout(QUIET_SECONDS):
                    change = await news.get()
                changed[change.kind] = change
    return changed


def connection_of(ctx: Context) -> Connection:
    # Each request has a session object of its own; what they share is not public.
    return ctx.session._connection


def subscriptions_of(connection: Connection) -> set[str]:
    uris: set[str] = connection.state.setdefault(SUBSCRIPTIONS, set())
    return uris

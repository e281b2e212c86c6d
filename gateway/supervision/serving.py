"""Serve the processes that serve clients: MCP on a socket private to our user."""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from mcp.server import Server, ServerRequestContext
from mcp.types import RequestParams

import contextd
from contextd.embedded.processes import StartError
from gateway import link, place, wire
from gateway.supervision.exchange import Asked
from gateway.supervision.supervisor import Supervisor

Admit = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Context = ServerRequestContext[Any, Any]


logger = logging.getLogger(__name__)


class OfUpstream(RequestParams):
    namespace: str


class OfExchange(OfUpstream):
    """A request for an upstream; `replied` holds the keys of the answered questions."""

    method: str
    name: str
    params: dict[str, Any]
    principal: str
    headers: dict[str, str] = {}
    replied: list[str] = []


class OfAnswer(RequestParams):
    held: str
    principal: str
    replies: dict[str, Any] = {}
    refusal: str = ""


def asked_by(params: OfExchange) -> Asked:
    return Asked(
        method=params.method,
        name=params.name,
        params=params.params,
        principal=params.principal,
        headers=params.headers,
    )


def build(supervisor: Supervisor) -> Server[Any]:
    server: Server[Any] = Server("contextd-gateway", version=contextd.__version__)

    exchanges = supervisor.exchanges

    async def ask(ctx: Context, params: OfExchange) -> dict[str, Any]:
        asked = asked_by(params)
        exchange = exchanges.replied_to(params.replied, asked.principal, asked.name)
        exchange = exchange or exchanges.begin(asked, partial(supervisor.perform, params.namespace))
        return await exchanges.follow(exchange, ctx.session.report_progress)

    async def answer(ctx: Context, params: OfAnswer) -> dict[str, Any]:
        exchange = exchanges.held(params.held, params.principal)
        exchange.answer(params.replies, params.refusal)
        return await exchanges.follow(exchange, ctx.session.report_progress)

    async def drop(ctx: Context, params: OfAnswer) -> dict[str, Any]:
        await exchanges.held(params.held, params.principal).drop()
        return {}

    async def restart(ctx: Context, params: OfUpstream) -> dict[str, Any]:
        return await supervisor.restart(params.namespace)

    async def refresh(ctx: Context, params: OfUpstream) -> dict[str, Any]:
        return await supervisor.refresh(params.namespace)

    server.add_request_handler("contextd/ask", OfExchange, ask)
    server.add_request_handler("contextd/answer", OfAnswer, answer)
    server.add_request_handler("contextd/drop", OfAnswer, drop)
    server.add_request_handler("contextd/restart", OfUpstream, restart)
    server.add_request_handler("contextd/refresh", OfUpstream, refresh)
    return server


@asynccontextmanager
async def listening(server: Server[Any]) -> AsyncIterator[None]:
    """Listen for connections. Raises StartError if another gateway listens already."""
    path = place.socket_path()
    await make_way(path)
    served: set[asyncio.Task[None]] = set()
    before = os.umask(0o177)
    try:
        listener = await asyncio.start_unix_server(partial(note_and_serve, served, server), path)
    finally:
        os.umask(before)
    listeners = [listener, *await listening_for_others(served, server)]
    try:
        yield
    finally:
        for listener in listeners:
            listener.close()
        await end_all(served)  # waiting clients must be notified
        with contextlib.suppress(FileNotFoundError):
            path.unlink()


async def listening_for_others(
    served: set["asyncio.Task[None]"], server: Server[Any]
) -> list[asyncio.Server]:
    address = settings.CONTEXTD_GATEWAY_LISTEN
    if not address:
        return []
    note = partial(note_and_serve, served, server, admit=place.admit)
    try:
        return [await asyncio.start_server(note, *place.host_and_port(address))]
    except OSError as error:
        raise StartError(f"cannot listen on {address} (CONTEXTD_GATEWAY_LISTEN): {error}") from None


async def make_way(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        _, writer = await asyncio.open_unix_connection(path)
    except FileNotFoundError:
        return
    except ConnectionRefusedError:  # left by a killed gateway
        path.unlink()
        return
    writer.close()
    raise StartError(f"another gateway is listening on {path}")


async def note_and_serve(
    served: set["asyncio.Task[None]"],
    server: Server[Any],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    admit: Admit | None = None,
) -> None:
    task = asyncio.create_task(serve(server, reader, writer, admit))
    served.add(task)
    task.add_done_callback(served.discard)


async def end_all(served: set["asyncio.Task[None]"]) -> None:
    ending = set(served)
    for task in ending:
        task.cancel()
    if ending:
        await asyncio.wait(ending)


async def serve(
    server: Server[Any],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    admit: Admit | None,
) -> None:
    """Serve a connection until the other side ends it; then cancel what runs for it."""
    try:
        if admit:
            await admit(reader, writer)
        async with wire.connected(link.peer_of(reader, writer)) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    except (OSError, ValueError) as error:  # refused, or already gone
        logger.warning("a connection to the gateway was refused: %s", error)
    finally:
        writer.close()

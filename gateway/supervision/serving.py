"""What the processes that serve clients ask of this one: MCP on a socket of our user's own."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp.types import CallToolRequestParams, RequestParams

import contextd
from contextd.embedded.processes import StartError
from gateway import link, wire
from gateway.supervision.supervisor import Supervisor

Context = ServerRequestContext[Any, Any]


class OfUpstream(RequestParams):
    namespace: str


def build(supervisor: Supervisor) -> Server[Any]:
    server: Server[Any] = Server("contextd-gateway", version=contextd.__version__)

    async def call(ctx: Context, params: CallToolRequestParams) -> dict[str, Any]:
        principal = str((params.meta or {}).get(link.PRINCIPAL, "-"))
        report = ctx.session.report_progress
        result = await supervisor.call(params.name, params.arguments or {}, principal, report)
        return {"resultType": "complete", **result}

    async def restart(ctx: Context, params: OfUpstream) -> dict[str, Any]:
        return await supervisor.restart(params.namespace)

    async def refresh(ctx: Context, params: OfUpstream) -> dict[str, Any]:
        return await supervisor.refresh(params.namespace)

    server.add_request_handler("tools/call", CallToolRequestParams, call)
    server.add_request_handler("contextd/restart", OfUpstream, restart)
    server.add_request_handler("contextd/refresh", OfUpstream, refresh)
    return server


@asynccontextmanager
async def listening(server: Server[Any]) -> AsyncIterator[None]:
    """Raises StartError where another gateway listens."""
    path = link.socket_path()
    await make_way(path)
    served: set[asyncio.Task[None]] = set()
    before = os.umask(0o177)
    try:
        listener = await asyncio.start_unix_server(partial(note_and_serve, served, server), path)
    finally:
        os.umask(before)
    try:
        yield
    finally:
        listener.close()
        await end_all(served)  # who waits at the other side has to know
        with contextlib.suppress(FileNotFoundError):
            path.unlink()


async def make_way(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        _, writer = await asyncio.open_unix_connection(path)
    except FileNotFoundError:
        return
    except ConnectionRefusedError:  # of one that was killed
        path.unlink()
        return
    writer.close()
    raise StartError(f"another gateway is listening on {path}")


async def note_and_serve(
    served: set["asyncio.Task[None]"],
    server: Server[Any],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    task = asyncio.create_task(serve(server, reader, writer))
    served.add(task)
    task.add_done_callback(served.discard)


async def end_all(served: set["asyncio.Task[None]"]) -> None:
    ending = set(served)
    for task in ending:
        task.cancel()
    if ending:
        await asyncio.wait(ending)


async def serve(
    server: Server[Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """One connection, until the other side ends it; what runs for it is cancelled then."""
    try:
        async with wire.connected(link.peer_of(reader, writer)) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        writer.close()

"""The MCP server on standard input and output, for a client that starts it as its child."""

import os
import uuid
from io import TextIOWrapper

import anyio
from django.conf import settings
from mcp.server.stdio import stdio_server

from contextd import auth
from contextd.callers import Caller
from contextd.mcp import server, tools
from contextd.mcp.peers import Peers
from contextd.mcp.tools import Context
from contextd.mcp.workers import Workers


def take_stdout() -> TextIOWrapper:
    """The real standard output; from now on whatever else is printed goes to standard error.

    It is done to the file descriptor, so that libraries written in C obey too.
    """
    wire = os.dup(1)
    os.dup2(2, 1)
    return open(wire, "w", encoding="utf-8", newline="\n")


def serve(wire: TextIOWrapper) -> None:
    """Answer until standard input ends."""
    anyio.run(_serve, wire)


async def _serve(wire: TextIOWrapper) -> None:
    owner = auth.process_owner()
    session_id = uuid.uuid4().hex

    def caller_of(ctx: Context) -> Caller:
        return auth.caller_of_mcp(
            owner,
            context=auth.DEFAULT_CONTEXT,
            client=tools.client_of(ctx),
            session_id=session_id,
        )

    workers = Workers(settings.WORKERS)
    mcp = server.build(workers, caller_of)
    async with (
        Peers().listening(),
        stdio_server(stdout=anyio.wrap_file(wire)) as (incoming, outgoing),
    ):
        await mcp.run(incoming, outgoing, mcp.create_initialization_options())
    workers.shut_down()

"""The MCP server on standard input and output, for a client that starts it as its child."""

import os
import uuid
from contextvars import ContextVar
from functools import partial
from io import TextIOWrapper

import anyio
from django.conf import settings
from mcp.server.context import CallNext, HandlerResult
from mcp.server.stdio import stdio_server

from contextd import auth
from contextd.auth import Admission
from contextd.callers import Caller
from contextd.errors import ContextdError
from contextd.mcp import answers, server, tools
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


def serve(wire: TextIOWrapper, context: str | None) -> None:
    """Answer until standard input ends."""
    anyio.run(_serve, wire, context)


async def _serve(wire: TextIOWrapper, context: str | None) -> None:
    workers = Workers(settings.WORKERS)
    session_id = uuid.uuid4().hex
    admitted: ContextVar[Admission] = ContextVar("admitted")

    async def admit(ctx: Context, call_next: CallNext) -> HandlerResult:
        """Middleware: what the context gives is asked anew for each message."""
        look_up = partial(auth.enter, auth.process_owner(), context, door="mcp")
        try:
            found = await workers.run_concealed(
                "authentication", look_up, seconds=auth.LOOKUP_SECONDS
            )
        except ContextdError as error:
            raise answers.protocol_error(error) from None
        admitted.set(found)
        return await call_next(ctx)

    def caller_of(ctx: Context) -> Caller:
        client = tools.client_of(ctx)
        return auth.caller_of_mcp(admitted.get(), client=client, session_id=session_id)

    mcp = server.build(workers, caller_of)
    mcp.middleware.insert(0, admit)
    async with (
        Peers().listening(),
        stdio_server(stdout=anyio.wrap_file(wire)) as (incoming, outgoing),
    ):
        await mcp.run(incoming, outgoing, mcp.create_initialization_options())
    workers.shut_down()

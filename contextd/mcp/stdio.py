"""The MCP server on standard input and output, for a client that starts it as a child process."""

import logging
import os
import uuid
from contextvars import ContextVar
from functools import partial
from typing import BinaryIO

import anyio
from django.conf import settings
from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult

from contextd import auth, logs
from contextd.auth import Admission
from contextd.callers import Caller
from contextd.errors import ContextdError
from contextd.mcp import answers, pipes, server, tools
from contextd.mcp.peers import Peers
from contextd.mcp.tools import Context
from contextd.workers import Workers

logger = logging.getLogger(__name__)


def take_stdin() -> int:
    """Return the real standard input; any other reader finds it at its end."""
    source = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return source


def take_stdout() -> BinaryIO:
    """Return the real standard output; from now on, anything printed goes to standard error.

    This replaces the file descriptor, so that it also applies to libraries written in C.
    """
    wire = os.dup(1)
    os.dup2(2, 1)
    return open(wire, "wb")


def serve(wire: BinaryIO, context: str | None) -> None:
    """Serve until standard input ends."""
    anyio.run(_serve, take_stdin(), wire, context)


async def log(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Middleware: log one line per request, with its id."""
    with logs.about_request(ctx.request_id):
        try:
            result = await call_next(ctx)
        except MCPError as error:
            logger.error("%s was refused: %s", ctx.method, error.message)
            raise
        if ctx.request_id is not None:
            logger.info("%s was answered", ctx.method)
        return result


async def _serve(source: int, wire: BinaryIO, context: str | None) -> None:
    workers = Workers(settings.WORKERS)
    session_id = uuid.uuid4().hex
    admitted: ContextVar[Admission] = ContextVar("admitted")

    async def enter() -> Admission:
        look_up = partial(auth.enter, auth.process_owner(), context, door="mcp")
        return await workers.run_safely("authentication", look_up)

    async def admit(ctx: Context, call_next: CallNext) -> HandlerResult:
        """Middleware: look up the current permissions for each message."""
        try:
            admitted.set(await enter())
        except ContextdError as error:
            raise answers.protocol_error(error) from None
        return await call_next(ctx)

    def caller_of(ctx: Context) -> Caller:
        client = tools.client_of(ctx)
        return auth.caller_of_mcp(admitted.get(), client=client, session_id=session_id)

    async def current_caller(ctx: Context) -> Caller:
        client = tools.client_of(ctx)
        return auth.caller_of_mcp(await enter(), client=client, session_id=session_id)

    mcp = server.build(workers, caller_of, current_caller)
    mcp.middleware[:0] = [log, admit]
    async with Peers().listening(), pipes.connected(source, wire) as (incoming, outgoing):
        await mcp.run(incoming, outgoing, mcp.create_initialization_options())
    workers.shut_down()

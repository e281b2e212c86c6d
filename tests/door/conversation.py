"""Methods of the MCP server that talk back to the client; only servers under test have them."""

import anyio
from mcp.server import Server
from mcp.types import EmptyResult, LoggingMessageNotification, LoggingMessageNotificationParams
from mcp.types import RequestParams as Parameters

from contextd.mcp.tools import Context

FORM = {"type": "object", "properties": {"name": {"type": "string"}}}


def extend(server: Server[None]) -> None:
    server.add_request_handler("door/ask", Parameters, ask)
    server.add_request_handler("door/wait", Parameters, wait)
    server.add_request_handler("door/log", Parameters, log)


async def ask(ctx: Context, params: Parameters) -> dict[str, object]:
    """Ask the person who sits before the client."""
    answer = await ctx.session.elicit_form("Your name?", FORM, related_request_id=ctx.request_id)
    return {"content": answer.content}


async def wait(ctx: Context, params: Parameters) -> EmptyResult:
    await anyio.sleep_forever()
    return EmptyResult()


async def log(ctx: Context, params: Parameters) -> EmptyResult:
    """Send something that belongs to no request."""
    told = LoggingMessageNotificationParams(level="info", data="from elsewhere")
    await ctx.session.send_notification(LoggingMessageNotification(params=told))
    return EmptyResult()

"""The same tool on the SDK's own server, with nothing around it."""

from typing import Any

from mcp.server import Server
from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool

ANSWER = CallToolResult(
    content=[TextContent(type="text", text='{"text":"ok"}')], structured_content={"text": "ok"}
)


async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
    return ListToolsResult(tools=[Tool(name="noop", input_schema={"type": "object"})])


async def call_tool(ctx: Any, params: Any) -> CallToolResult:
    return ANSWER


server: Server[Any] = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
application = server.streamable_http_app()

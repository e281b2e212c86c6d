"""Adds the suite's fixtures to what the MCP server offers itself."""

from typing import Any

from mcp import MCPError, types
from mcp.server import Server

from contextd.mcp.tools import Context
from tests.conformance import prompts, resources
from tests.conformance import rounds as rounds  # registers its tools
from tests.conformance.tools import FIXTURES


def install(server: Server[Any]) -> None:
    fixtures = Fixtures(server)
    page = types.PaginatedRequestParams
    server.add_request_handler("tools/list", page, fixtures.list_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, fixtures.call_tool)
    server.add_request_handler("resources/list", page, list_resources)
    server.add_request_handler("resources/templates/list", page, list_templates)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, read_resource)
    server.add_request_handler("prompts/list", page, list_prompts)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, get_prompt)
    server.add_request_handler("completion/complete", types.CompleteRequestParams, complete)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    server.get_tool_input_schema = schema_of


class Fixtures:
    """Tools of the suite beside the server's own."""

    def __init__(self, server: Server[Any]) -> None:
        listing = server.get_request_handler("tools/list")
        calling = server.get_request_handler("tools/call")
        assert listing is not None
        assert calling is not None
        self._list_own, self._call_own = listing.handler, calling.handler

    async def list_tools(self, ctx: Context, params: Any) -> types.ListToolsResult:
        own = await self._list_own(ctx, params)
        assert isinstance(own, types.ListToolsResult)
        added = [fixture.tool for fixture in FIXTURES.values()]
        return types.ListToolsResult(tools=[*own.tools, *added])

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> Any:
        fixture = FIXTURES.get(params.name)
        return await (fixture.handler if fixture else self._call_own)(ctx, params)


def schema_of(name: str) -> dict[str, Any] | None:
    fixture = FIXTURES.get(name)
    return fixture.tool.input_schema if fixture else None


async def list_resources(ctx: Context, params: Any) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=resources.RESOURCES)


async def list_templates(ctx: Context, params: Any) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult(resource_templates=[resources.TEMPLATE])


async def read_resource(
    ctx: Context, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    found = resources.read(str(params.uri))
    if found is None:
        raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": str(params.uri)})
    return found


async def list_prompts(ctx: Context, params: Any) -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=prompts.PROMPTS)


async def get_prompt(ctx: Context, params: types.GetPromptRequestParams) -> Any:
    return prompts.get(params)


async def complete(ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    words = [word for word in ("paris", "park", "party") if word.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=words, total=len(words)))


async def set_level(ctx: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
    return types.EmptyResult()

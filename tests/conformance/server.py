"""Adds the suite's fixtures to what the MCP server offers itself."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from mcp import types
from mcp.server import Server
from pydantic import BaseModel

from contextd.mcp.tools import Context
from tests.conformance import prompts, resources
from tests.conformance import rounds as rounds  # registers its tools
from tests.conformance.tools import FIXTURES

Own = Callable[[Context, Any], Awaitable[Any]]


METHODS: dict[str, type[BaseModel]] = {
    "tools/list": types.PaginatedRequestParams,
    "tools/call": types.CallToolRequestParams,
    "resources/list": types.PaginatedRequestParams,
    "resources/templates/list": types.PaginatedRequestParams,
    "resources/read": types.ReadResourceRequestParams,
    "prompts/list": types.PaginatedRequestParams,
    "prompts/get": types.GetPromptRequestParams,
    "completion/complete": types.CompleteRequestParams,
}


def install(server: Server[Any]) -> None:
    """Answer what the suite asks for; what it does not, the server goes on to answer itself."""
    serve = {
        "tools/list": list_tools,
        "tools/call": call_tool,
        "resources/list": list_resources,
        "resources/templates/list": list_templates,
        "resources/read": read_resource,
        "prompts/list": list_prompts,
        "prompts/get": get_prompt,
        "completion/complete": complete,
    }
    for method, params in METHODS.items():
        own = server.get_request_handler(method)
        assert own is not None
        server.add_request_handler(method, params, partial(serve[method], own.handler))
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    server.get_tool_input_schema = schema_of


async def list_tools(own: Own, ctx: Context, params: Any) -> types.ListToolsResult:
    listed = (await own(ctx, params)).tools
    return types.ListToolsResult(tools=[*listed, *(one.tool for one in FIXTURES.values())])


async def call_tool(own: Own, ctx: Context, params: types.CallToolRequestParams) -> Any:
    fixture = FIXTURES.get(params.name)
    return await (fixture.handler if fixture else own)(ctx, params)


async def list_resources(own: Own, ctx: Context, params: Any) -> types.ListResourcesResult:
    listed = (await own(ctx, params)).resources
    return types.ListResourcesResult(resources=[*listed, *resources.RESOURCES])


async def list_templates(own: Own, ctx: Context, params: Any) -> types.ListResourceTemplatesResult:
    listed = (await own(ctx, params)).resource_templates
    return types.ListResourceTemplatesResult(resource_templates=[*listed, resources.TEMPLATE])


async def read_resource(own: Own, ctx: Context, params: types.ReadResourceRequestParams) -> Any:
    return resources.read(str(params.uri)) or await own(ctx, params)


async def list_prompts(own: Own, ctx: Context, params: Any) -> types.ListPromptsResult:
    listed = (await own(ctx, params)).prompts
    return types.ListPromptsResult(prompts=[*listed, *prompts.PROMPTS])


async def get_prompt(own: Own, ctx: Context, params: types.GetPromptRequestParams) -> Any:
    return prompts.get(params) or await own(ctx, params)


async def complete(own: Own, ctx: Context, params: types.CompleteRequestParams) -> Any:
    if not isinstance(params.ref, types.PromptReference) or params.ref.name not in prompts.BUILD:
        return await own(ctx, params)
    words = [word for word in ("paris", "park", "party") if word.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=words, total=len(words)))


def schema_of(name: str) -> dict[str, Any] | None:
    fixture = FIXTURES.get(name)
    return fixture.tool.input_schema if fixture else None


async def set_level(ctx: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
    return types.EmptyResult()

"""Serve the registered operations as MCP tools."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any

from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp.server.context import HandlerResult
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
    ToolAnnotations,
)
from mcp.types.methods import validate_server_result
from pydantic import BaseModel, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode
from starlette.requests import Request

from contextd import guards, operations, pipeline
from contextd.callers import ABSENT, Caller
from contextd.errors import ContextdError, NotFound
from contextd.mcp import answers, pagination
from contextd.operations import Operation, Provided, Result
from contextd.workers import Workers

MAX_NAME_LENGTH = 200
MAX_CACHED_TOOLS = 4096
CANONICAL = "contextd/canonicalName"

logger = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Request]
Identify = Callable[[Context], Caller]
Renew = Callable[[Context], Awaitable[Caller]]
"""Returns the sender of a request with current permissions; raises ContextdError if refused."""

Answer = Result | InputRequiredResult | dict[str, Any]
"""The outcome of a call: its result, a question, or the handle of a task."""

CallWaiting = Callable[[Context, Operation, CallToolRequestParams, Caller], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Tools:
    """Serves `tools/list` and `tools/call`."""

    workers: Workers
    identify: Identify
    call_waiting: CallWaiting

    async def list(self, ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        work = partial(listed, self.identify(ctx), ctx.protocol_version)
        tools = await self.workers.run_safely("tools/list", work)
        page, following = pagination.cut(tools, params)
        return ListToolsResult(tools=list(page), next_cursor=following)

    async def call(self, ctx: Context, params: CallToolRequestParams) -> HandlerResult:
        operation = await self.operation_named(params.name)
        caller = self.identify(ctx)
        try:
            answer = await self._answer(ctx, operation, params, caller)
        except ContextdError as error:
            return answers.failure(error, ctx.protocol_version)
        if isinstance(answer, Result):
            return answers.success(answer, ctx.protocol_version)
        return answer

    async def operation_named(self, name: str) -> Operation:
        if found := operations.at_hand(name):
            return found
        try:
            work = partial(operations.get, name)
            return await self.workers.run_safely("tools/call", work)
        except NotFound:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {name[:MAX_NAME_LENGTH]}") from None

    async def _answer(
        self, ctx: Context, operation: Operation, params: CallToolRequestParams, caller: Caller
    ) -> Answer:
        if operation.waits:
            return await self.call_waiting(ctx, operation, params, caller)
        work = partial(pipeline.call, operation.name, params.arguments or {}, caller)
        return await self.workers.run(work, seconds=operation.timeout)


def client_of(ctx: Context) -> str:
    """Return the name and version of the client, if it sent them."""
    parameters = ctx.session.client_params
    if parameters is None:
        return ABSENT
    return f"{parameters.client_info.name}/{parameters.client_info.version}"


def listed(caller: Caller, version: str) -> list[Tool]:
    """Return the tools of the caller in the form of the protocol version."""
    structured = answers.has_structure(version)
    tools = (
        as_provided_tool(operation, version)
        if isinstance(operation, Provided)
        else as_tool(operation, structured)
        for operation in operations.available()
        if guards.may_use(operation, caller)
    )
    return [tool for tool in tools if tool]


@lru_cache(MAX_CACHED_TOOLS)
def as_provided_tool(operation: Provided, version: str) -> Tool | None:
    """Return the tool as its server describes it, under a name that every client accepts.

    None for a tool that the protocol version cannot express, since it would fail the whole list.
    """
    structured = answers.has_structure(version)
    try:
        tool = Tool.model_validate(operation.definition).model_copy(
            update={
                "name": operation.name,
                "title": operation.canonical if structured else None,
                "meta": {CANONICAL: operation.canonical},
            }
        )
        ensure_listable(tool, version)
    except ValidationError as error:
        logger.warning("%s is not listed: %s", operation.canonical, error.errors()[0]["msg"])
        return None
    return tool if structured else tool.model_copy(update={"output_schema": None})


def ensure_listable(tool: Tool, version: str) -> None:
    """Raise ValidationError if `tools/list` of the protocol version cannot contain the tool."""
    alone = ListToolsResult(tools=[tool]).model_dump(by_alias=True, mode="json", exclude_none=True)
    validate_server_result("tools/list", version, alone)


@cache
def as_tool(operation: Operation, structured: bool) -> Tool:
    """Return the tool; with `structured`, the protocol version has titles and output schemas."""
    return Tool(
        name=operation.name,
        title=operation.name.replace("_", " ").capitalize() if structured else None,
        description=operation.description,
        input_schema=schema_of(operation.request, "validation"),
        output_schema=schema_of(operation.result, "serialization") if structured else None,
        annotations=ToolAnnotations(
            read_only_hint=operation.effect == "read",
            destructive_hint=operation.effect == "delete",
            idempotent_hint=operation.effect != "write",
            open_world_hint=False,
        ),
    )


def schema_of(model: type[BaseModel], mode: JsonSchemaMode) -> dict[str, Any]:
    """Return the schema without title and description, which the tool has: words cost context."""
    schema = model.model_json_schema(mode=mode, schema_generator=Untitled)
    return {key: value for key, value in schema.items() if key not in ("title", "description")}


class Untitled(GenerateJsonSchema):
    """A schema whose fields have no titles generated from their names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

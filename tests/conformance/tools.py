"""Tools of the suite for all versions, including those that send messages while they run."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anyio
from mcp import types
from mcp.shared.message import ServerMessageMetadata

from contextd.mcp.tools import Context
from tests.conformance.content import (
    BOOLEAN,
    NO_ARGUMENTS,
    STRING,
    audio,
    embedded,
    fields,
    image,
    said,
    text,
)

Answer = types.CallToolResult | types.InputRequiredResult
Handler = Callable[[Context, types.CallToolRequestParams], Awaitable[Answer]]

PAUSE_SECONDS = 0.05
"""Pause between messages, which the suite observes while the tool runs."""


@dataclass(frozen=True, slots=True)
class Fixture:
    tool: types.Tool
    handler: Handler


FIXTURES: dict[str, Fixture] = {}


def tool(name: str, schema: dict[str, Any] = NO_ARGUMENTS) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        listed = types.Tool(name=name, description=f"Fixture {name}", input_schema=schema)
        FIXTURES[name] = Fixture(listed, handler)
        return handler

    return register


def always(name: str, answer: types.CallToolResult, schema: dict[str, Any] = NO_ARGUMENTS) -> None:
    @tool(name, schema)
    async def handler(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        return answer


always("test_simple_text", said(text("This is a simple text response for testing.")))
always("test_image_content", said(image()))
always("test_audio_content", said(audio()))
always(
    "test_embedded_resource",
    said(
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ),
)
always(
    "test_multiple_content_types",
    said(
        text("Multiple content types test:"),
        image(),
        embedded(
            "test://mixed-content-resource", "application/json", '{"test":"data","value":123}'
        ),
    ),
)
always(
    "test_error_handling",
    types.CallToolResult(
        is_error=True, content=[text("This tool intentionally returns an error for testing")]
    ),
)
always(
    "json_schema_2020_12_tool",
    said(text("valid")),
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": STRING, "city": STRING},
            }
        },
        "properties": {
            "name": STRING,
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {**STRING, "enum": ["phone", "email"]},
            "phone": STRING,
            "email": STRING,
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
)
always(
    "test_custom_header",
    said(text("valid")),
    fields(region={**STRING, "x-mcp-header": "Region"}),
)


@tool("test_tool_with_logging")
@tool("test_logging_tool")
async def log(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    for step in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.session.send_log_message("info", step, related_request_id=ctx.request_id)
        await anyio.sleep(PAUSE_SECONDS)
    return said(text("logged"))


@tool("greet", fields(name=STRING))
async def greet(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    return said(text(f"Hello, {(params.arguments or {})['name']}!"))


@tool("test_sampling", fields(prompt=STRING))
async def sample(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    question = text((params.arguments or {})["prompt"])
    request = types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(
            messages=[types.SamplingMessage(role="user", content=question)], max_tokens=100
        )
    )
    answer = await ctx.session.send_request(
        request, types.CreateMessageResult, metadata=about_this_call(ctx)
    )
    return said(text(f"LLM response: {answer.content}"))


def about_this_call(ctx: Context) -> ServerMessageMetadata:
    return ServerMessageMetadata(related_request_id=ctx.request_id)


@tool("test_elicitation", fields(message=STRING))
async def elicit(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    form = fields(
        username={**STRING, "description": "User's response"},
        email={**STRING, "description": "User's email address"},
    )
    return await ask(ctx, (params.arguments or {})["message"], form, "User response: ")


@tool("test_elicitation_sep1034_defaults")
async def elicit_with_defaults(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    statuses = ["active", "inactive", "pending"]
    properties = {
        "name": {**STRING, "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {**STRING, "enum": statuses, "default": "active"},
        "verified": {**BOOLEAN, "default": True},
    }
    return await ask(
        ctx, "Please confirm your details", {**NOTHING_NEEDED, "properties": properties}
    )


@tool("test_elicitation_sep1330_enums")
async def elicit_choices(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    plain = {**STRING, "enum": ["option1", "option2", "option3"]}
    ordinals = enumerate(("First", "Second", "Third"), 1)
    titled = [{"const": f"value{n}", "title": f"{word} Option"} for n, word in ordinals]
    names = ["Option One", "Option Two", "Option Three"]
    properties = {
        "untitledSingle": plain,
        "titledSingle": {**STRING, "oneOf": titled},
        "legacyEnum": {**STRING, "enum": ["opt1", "opt2", "opt3"], "enumNames": names},
        "untitledMulti": {"type": "array", "items": plain},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    return await ask(ctx, "Pick", {**NOTHING_NEEDED, "properties": properties})


NOTHING_NEEDED = {"type": "object", "required": []}


async def ask(
    ctx: Context, message: str, form: dict[str, Any], prefix: str = "Elicitation completed: "
) -> Answer:
    answer = await ctx.session.elicit_form(message, form, related_request_id=ctx.request_id)
    return said(text(f"{prefix}action={answer.action}, content={answer.content}"))


@tool("test_reconnection")
async def drop_stream(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    """End the stream of this call; the client comes back for the answer."""
    if ctx.close_sse_stream is not None:
        await ctx.close_sse_stream()
    await anyio.sleep(2 * PAUSE_SECONDS)
    return said(text("Reconnection test completed"))

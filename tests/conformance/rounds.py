"""Tools of the suite for 2026-07-28, which ask by an answer and are called again."""

from collections.abc import Mapping
from typing import Any

from mcp import MCPError, types

from contextd.mcp.tools import Context
from tests.conformance.content import BOOLEAN, STRING, fields, said, text
from tests.conformance.tools import Answer, Handler, tool

Params = types.CallToolRequestParams | types.GetPromptRequestParams


def question(message: str, **properties: Any) -> types.ElicitRequest:
    params = types.ElicitRequestFormParams(
        mode="form", message=message, requested_schema=fields(**properties)
    )
    return types.ElicitRequest(params=params)


def sampling(prompt: str, max_tokens: int) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=text(prompt))
    params = types.CreateMessageRequestParams(messages=[message], max_tokens=max_tokens)
    return types.CreateMessageRequest(params=params)


def need(requests: Mapping[str, Any], state: str | None = None) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=dict(requests), request_state=state)


def accepted(params: Params, key: str, field: str) -> Any:
    """Return the person's answer in that field, or None without an accepted answer."""
    answer = (params.input_responses or {}).get(key)
    if not isinstance(answer, types.ElicitResult) or answer.action != "accept":
        return None
    return (answer.content or {}).get(field)


def ask_name() -> dict[str, Any]:
    return {"user_name": question("What is your name?", name=STRING)}


@tool("test_streaming_elicitation")
async def greet(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    name = accepted(params, "user_name", "name")
    return said(text(f"Hello, {name}!")) if name else need(ask_name())


def answered(name: str, key: str, request: Any) -> None:
    """A tool that is content with any answer."""

    @tool(name)
    async def handler(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        if key in (params.input_responses or {}):
            return said(text("answered"))
        return need({key: request})


answered(
    "test_input_required_result_sampling",
    "capital_question",
    sampling("What is the capital of France?", 100),
)
answered("test_input_required_result_list_roots", "client_roots", types.ListRootsRequest())


def confirming(state: str) -> Handler:
    async def handler(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        if accepted(params, "confirm", "ok") and params.request_state == state:
            return said(text("state-ok"))
        return need({"confirm": question("Please confirm", ok=BOOLEAN)}, state)

    return handler


tool("test_input_required_result_request_state")(confirming("remembered"))
tool("test_input_required_result_tampered_state")(confirming("untouched"))


@tool("test_input_required_result_multiple_inputs")
async def ask_all_at_once(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    requests = {
        **ask_name(),
        "greeting": sampling("Generate a greeting", 50),
        "client_roots": types.ListRootsRequest(),
    }
    if params.request_state == "asked" and set(requests) <= set(params.input_responses or {}):
        return said(text("all inputs"))
    return need(requests, "asked")


@tool("test_input_required_result_multi_round")
async def ask_twice(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    if params.request_state == "second" and accepted(params, "step2", "color"):
        return said(text("rounds done"))
    if params.request_state == "first" and accepted(params, "step1", "name"):
        color = question("Step 2: What is your favorite color?", color=STRING)
        return need({"step2": color}, "second")
    return need({"step1": question("Step 1: What is your name?", name=STRING)}, "first")


@tool("test_input_required_result_capabilities")
async def ask_what_the_client_can(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    capabilities = ctx.session.client_capabilities or types.ClientCapabilities()
    requests: dict[str, Any] = {}
    if capabilities.sampling is not None:
        requests["ask"] = sampling("hi", 10)
    if capabilities.elicitation is not None:
        requests |= ask_name()
    return said(text("done")) if params.input_responses or not requests else need(requests)


@tool("test_missing_capability")
async def need_sampling(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "Client must declare sampling",
            {"requiredCapabilities": {"sampling": {}}},
        )
    return said(text("has sampling"))

"""Results and errors in the form that the negotiated protocol version defines."""

from typing import Any

from mcp import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolResult,
    TextContent,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS, is_version_at_least
from pydantic_core import from_json, to_jsonable_python

from contextd.conversations import Ability
from contextd.errors import ContextdError, Invalid, NotFound, RateLimited, Refused, Unsupported
from contextd.operations import RelayedToolResult, Result

TASKS = "io.modelcontextprotocol/tasks"
CAPABILITIES: dict[Ability, dict[str, Any]] = {
    "questions": {"elicitation": {}},
    "model": {"sampling": {}},
    "later results": {"extensions": {TASKS: {}}},
}


def has_structure(version: str) -> bool:
    """Return whether the version has structured results, and errors as results."""
    return is_version_at_least(version, "2025-06-18")


CAUSE = "contextd/cause"


def success(result: Result, version: str) -> CallToolResult:
    if isinstance(result, RelayedToolResult):
        return relayed(result, version)
    text = result.model_dump_json()
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=from_json(text) if has_structure(version) else None,
    )


def relayed(result: RelayedToolResult, version: str) -> CallToolResult:
    content = list(result.content)
    if result.redacted:
        notice = (
            f"{result.redacted} credentials in the arguments were replaced before sending them."
        )
        content.append({"type": "text", "text": notice})
    return CallToolResult.model_validate(
        {
            "content": content,
            "structuredContent": structured_in(version, result.structured),
            "_meta": result.meta,
        }
    )


def structured_in(version: str, structured: Any) -> Any:
    """Return the structured result, or None if the version has no such results."""
    is_allowed = isinstance(structured, dict) or version in MODERN_PROTOCOL_VERSIONS
    return structured if has_structure(version) and is_allowed else None


def failure(error: ContextdError, version: str) -> CallToolResult:
    """Return the error as a result; raise a protocol error where the version requires one."""
    content = to_jsonable_python(error.as_dict(), fallback=str)
    if isinstance(error, Unsupported) and version in MODERN_PROTOCOL_VERSIONS:
        content["requiredCapabilities"] = CAPABILITIES[error.details["ability"]]
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, error.text, content)
    structured = has_structure(version)
    if isinstance(error, RateLimited) or not (structured or isinstance(error, Refused)):
        raise MCPError(INTERNAL_ERROR, error.text, content)
    return CallToolResult(
        content=[TextContent(type="text", text=error.text)],
        structured_content=content if structured else None,
        is_error=True,
        _meta={CAUSE: error.details["cause"]} if "cause" in error.details else None,
    )


def protocol_error(error: ContextdError) -> MCPError:
    """Return the error for methods whose results cannot be errors: all except `tools/call`."""
    blames_caller = isinstance(error, Invalid | NotFound)
    code = INVALID_PARAMS if blames_caller else INTERNAL_ERROR
    return MCPError(code, error.text, to_jsonable_python(error.as_dict(), fallback=str))

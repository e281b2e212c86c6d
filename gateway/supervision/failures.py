"""What can go wrong with an upstream."""

from typing import Any

from mcp import MCPError
from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT

FAILED = -32012
TIMED_OUT = -32013
BUSY = -32014


class Lost(Exception):
    """The connection cannot be made, or is no more; the message says why."""


def unavailable(message: str) -> MCPError:
    return MCPError(FAILED, message, {"category": "internal"})


def timed_out(message: str) -> MCPError:
    return MCPError(TIMED_OUT, message, {"category": "timeout"})


def busy(message: str) -> MCPError:
    return MCPError(BUSY, message, {"category": "busy"})


def refused(name: str, error: MCPError) -> MCPError:
    """The upstream answered with an error of the protocol."""
    code, message = error.error.code, error.error.message
    cause: dict[str, Any] = {"code": code, "message": message, "data": error.error.data}
    return MCPError(
        FAILED, f"{name}: {message} (code={code})", {"category": "internal", "cause": cause}
    )


def broken(name: str, problem: str, result: Any) -> MCPError:
    """The upstream answered with something else than it promises."""
    message = f"{name}: the result is not what it should be: {problem}"
    return MCPError(FAILED, message, {"category": "internal", "cause": result})


def is_closed(error: MCPError) -> bool:
    return error.error.code == CONNECTION_CLOSED


def is_timeout(error: MCPError) -> bool:
    return error.error.code == REQUEST_TIMEOUT

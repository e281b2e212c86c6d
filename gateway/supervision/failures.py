"""Errors of upstreams, and how to recognise them."""

from collections.abc import Callable
from typing import Any

from mcp import MCPError
from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT

from gateway.lost import Hopeless, Lost
from gateway.wire import NOT_SENT

FAILED = -32012
TIMED_OUT = -32013
BUSY = -32014
FORGOTTEN_SESSION = {
    "session terminated",
    "session not found",
    "session expired",
    "session has been terminated",
    "missing session id",
    "invalid session id",
    "invalid or expired session id",
    "no valid session id provided",
    "mcp-session-id header is required",
    "server not initialized",
}


def unavailable(message: str) -> MCPError:
    return MCPError(FAILED, message, {"category": "internal"})


def timed_out(message: str) -> MCPError:
    return MCPError(TIMED_OUT, message, {"category": "timeout"})


def busy(message: str) -> MCPError:
    return MCPError(BUSY, message, {"category": "busy"})


def refused(name: str, error: MCPError) -> MCPError:
    """Return the error for an upstream that answered with a protocol error."""
    code, message = error.error.code, error.error.message
    cause: dict[str, Any] = {"code": code, "message": message, "data": error.error.data}
    return MCPError(
        FAILED, f"{name}: {message} (code={code})", {"category": "internal", "cause": cause}
    )


def broken(name: str, problem: str, result: Any) -> MCPError:
    """Return the error for a result that breaks the tool's contract."""
    message = f"{name}: the result is not what it should be: {problem}"
    return MCPError(FAILED, message, {"category": "internal", "cause": result})


def is_closed(error: MCPError) -> bool:
    return error.error.code == CONNECTION_CLOSED or is_unsent(error)


def is_unsent(error: MCPError) -> bool:
    return error.error.code == NOT_SENT


def is_timeout(error: MCPError) -> bool:
    return error.error.code == REQUEST_TIMEOUT


def is_of_forgotten_session(error: MCPError) -> bool:
    """Recognise a lost session by servers' wording, since there is no code for it."""
    message = error.error.message.lower()
    for prefix in ("not found: ", "bad request: "):
        message = message.removeprefix(prefix)
    return message in FORGOTTEN_SESSION


def as_lost(error: BaseException, reworded: Callable[[str], str]) -> Lost:
    """Return the error, or the first of a group, as the end of a connection."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    kind = Hopeless if isinstance(error, Hopeless) else Lost
    return kind(reworded(message_of(error)))


def message_of(error: BaseException) -> str:
    if isinstance(error, Lost):
        return str(error)
    if isinstance(error, MCPError):
        return error.error.message
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__

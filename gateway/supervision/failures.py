"""Errors of upstreams, and how to recognise them."""

from collections.abc import Callable
from typing import Any

from mcp import MCPError
from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT

from gateway import wire
from gateway.errors import Hopeless, Lost
from gateway.rpc import Failed

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


def unavailable(message: str) -> Failed:
    return Failed(message)


def timed_out(message: str) -> Failed:
    return Failed(message, "timeout")


def busy(message: str) -> Failed:
    return Failed(message, "busy")


def refused(name: str, error: MCPError) -> Failed:
    """Return the error for an upstream's protocol error, or for a request that cannot be sent."""
    code, message, data = error.error.code, error.error.message, error.error.data
    if data == wire.REFUSED_REQUEST:
        return Failed(f"{name}: {message}", "validation")
    cause: dict[str, Any] = {"code": code, "message": message, "data": data}
    return Failed(f"{name}: {message} (code={code})", cause=cause)


def broken(name: str, problem: str, result: Any) -> Failed:
    """Return the error for a result that breaks the tool's contract."""
    return Failed(f"{name}: the result is not what it should be: {problem}", cause=result)


def is_closed(error: MCPError) -> bool:
    return error.error.code == CONNECTION_CLOSED or is_unsent(error)


def is_unsent(error: MCPError) -> bool:
    return error.error.code == wire.NOT_SENT


def is_timeout(error: MCPError) -> bool:
    return error.error.code == REQUEST_TIMEOUT


def is_of_forgotten_session(error: MCPError) -> bool:
    """Recognise a lost session, where the status does not tell, by servers' wording."""
    if error.error.code == wire.SESSION_OVER:
        return True
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

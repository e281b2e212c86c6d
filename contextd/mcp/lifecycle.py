"""The lifecycle of a connection on standard input: what a client may send at each stage."""

from enum import Enum
from typing import Any

from mcp.types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest
from mcp.types import JSONRPCResponse as Answer

from contextd.mcp.sdk import has_modern_envelope

NOT_INITIALIZED = "Server not initialized. Send initialized notification first."
ALREADY_INITIALIZED = "Already initialized"
CANCELLED = "notifications/cancelled"
LISTEN = "subscriptions/listen"
"""The only request that is answered when the connection ends, not before."""


class State(Enum):
    NOT_INITIALIZED = "not initialized"
    INITIALIZING = "initializing"
    INITIALIZED = "initialized"


class Lifecycle:
    """Tracks one connection. Requests of 2026-07-28 need no handshake, so they always pass."""

    def __init__(self) -> None:
        self._state = State.NOT_INITIALIZED
        self._handshake: Any = None
        self._open: set[str] = set()
        self._listening: set[str] = set()
        self.version = ""
        """The protocol version that the handshake negotiated."""

    def refusal(self, message: JSONRPCMessage) -> str | None:
        """Return why the message is refused; if it passes, record it and return None."""
        if isinstance(message, JSONRPCNotification):
            self._note(message)
            return None
        if not isinstance(message, JSONRPCRequest):
            return None
        why = self._refusal_of(message)
        if why is None:
            self._open.add(str(message.id))
            if message.method == LISTEN:
                self._listening.add(str(message.id))
        return why

    @property
    def is_busy(self) -> bool:
        """Whether a request other than `subscriptions/listen` is unanswered."""
        return not self._open <= self._listening

    def is_running(self, message: JSONRPCMessage) -> bool:
        """Return whether a request with the same id is unanswered."""
        return isinstance(message, JSONRPCRequest) and str(message.id) in self._open

    def answered(self, message: JSONRPCMessage) -> None:
        if not isinstance(message, Answer | JSONRPCError):
            return
        self._open.discard(str(message.id))
        if self._handshake is not None and message.id == self._handshake:
            self._handshake = None
            if isinstance(message, Answer):
                self.version = message.result.get("protocolVersion", "")
            else:
                self._state = State.NOT_INITIALIZED

    def _refusal_of(self, request: JSONRPCRequest) -> str | None:
        if has_modern_envelope(request.params) or request.method == "ping":
            return None
        if request.method != "initialize":
            return None if self._state is State.INITIALIZED else NOT_INITIALIZED
        if self._state is not State.NOT_INITIALIZED:
            return ALREADY_INITIALIZED
        self._state, self._handshake = State.INITIALIZING, request.id
        return None

    def _note(self, notification: JSONRPCNotification) -> None:
        is_expected = self._state is State.INITIALIZING
        if notification.method == "notifications/initialized" and is_expected:
            self._state = State.INITIALIZED
        elif (cancelled := cancelled_by(notification)) is not None:
            # A cancelled request is not answered.
            self._open.discard(cancelled)


def cancelled_by(message: JSONRPCMessage) -> str | None:
    """Return the id of the request that the message cancels, as text."""
    if not isinstance(message, JSONRPCNotification) or message.method != CANCELLED:
        return None
    return str((message.params or {}).get("requestId"))

"""Every use of private parts of the MCP SDK; written for mcp 2.3.

An SDK update that moves one of these fails here and in `tests/contextd/test_mcp_sdk.py`.
"""

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import anyio
from mcp import ClientSession
from mcp.client._probe import negotiate_auto as negotiate_auto
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.runner import _has_modern_envelope
from mcp.server.streamable_http import GET_STREAM_KEY, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import (
    StreamableHTTPSessionManager,
    _send_and_report_status,
)
from mcp.shared._stream_protocols import ReadStream as ReadStream
from mcp.shared._stream_protocols import WriteStream as WriteStream
from mcp.shared.dispatcher import CallOptions, as_request_id, coerce_request_id
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import SessionMessage
from mcp.shared.transport_context import TransportContext
from starlette.types import Receive, Scope, Send

Application = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Wraps the write stream of a session; subclasses extend `send`."""

    stream: WriteStream[SessionMessage]

    async def send(self, item: SessionMessage, /) -> None:
        await self.stream.send(item)

    async def aclose(self) -> None:
        await self.stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


def has_modern_envelope(params: Mapping[str, Any] | None) -> bool:
    """Return whether a request states its own protocol version, as 2026-07-28 requires."""
    return _has_modern_envelope(params)


def connection_of(ctx: ServerRequestContext[Any, Any]) -> Connection:
    """Return the connection, which all requests of a client share; sessions are per request."""
    return ctx.session._connection


def stamp(session: ClientSession, request: dict[str, Any], options: CallOptions) -> None:
    """Add to a raw request what the session's protocol version requires."""
    session._stamp(request, options)


async def status_sent(
    application: Application, scope: Scope, receive: Receive, send: Send
) -> int | None:
    """Serve a request; return the status of the answer, or None if there was none."""
    return await _send_and_report_status(application, scope, receive, send)


def has_requests_in_flight(transport: StreamableHTTPServerTransport) -> bool:
    return transport._requests_in_flight > 0


def has_stream(transport: StreamableHTTPServerTransport) -> bool:
    """Return whether the client's standalone stream is open."""
    return GET_STREAM_KEY in transport._request_streams


async def receive_as_client(
    transport: StreamableHTTPServerTransport, message: SessionMessage
) -> None:
    """Pass a message to the server of the session as if its client had posted it."""
    if transport._read_stream_writer is not None:
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await transport._read_stream_writer.send(message)


async def send_to_client(transport: StreamableHTTPServerTransport, message: SessionMessage) -> None:
    """Send a message to the client as if the server of the session had sent it."""
    if transport._write_stream is not None:
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await transport._write_stream.send(message)


class SessionManager(StreamableHTTPSessionManager):
    """A session manager that leaves requests up to 2025-11-25 to a subclass."""

    @property
    def lifespan_state(self) -> Any:
        return self._lifespan_state

    async def _handle_stateful_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.serve(scope, receive, send)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request up to 2025-11-25."""
        raise NotImplementedError


class Dispatcher(JSONRPCDispatcher[TransportContext]):
    """A dispatcher whose subclass chooses the ids of the requests that it sends."""

    def next_id(self) -> str:
        raise NotImplementedError

    def _allocate_id(self) -> str:  # type: ignore[override]  # the wire knows ids of text too
        return self.next_id()

    def is_running(self, request_id: object) -> bool:
        """Return whether this request of the peer is running."""
        known = as_request_id(request_id)
        return known is not None and coerce_request_id(known) in self._in_flight

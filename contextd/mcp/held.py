"""The part of a session that lives in this process: its streams and its running calls."""

import contextlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import anyio
from mcp.server.connection import Connection
from mcp.server.runner import serve_connection
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.shared.subscriptions import LISTEN_STREAM_METHODS
from mcp.types import (
    ClientCapabilities,
    Implementation,
    InitializeRequestParams,
    JSONRPCNotification,
    JSONRPCRequest,
)
from mcp.types.jsonrpc import jsonrpc_message_adapter

from contextd import auth, bus
from contextd.callers import Caller
from contextd.errors import Invalid
from contextd.mcp import sdk
from contextd.mcp.admissions import Admissions
from contextd.mcp.replay import RETRY_MILLISECONDS, Replay
from contextd.mcp.sender import Sender
from contextd.mcp.server import AnnouncingServer
from contextd.models import Session

# A session can be restored from its row at any time; holding it saves that query.
IDLE_SECONDS = 5 * 60

Content = dict[str, Any]
"""A JSON-RPC message."""

# Every process receives changes and notifies its own clients.
HEARD_EVERYWHERE = LISTEN_STREAM_METHODS


class Held:
    """The local part of a session."""

    def __init__(
        self,
        row: Session,
        sender: Sender,
        admissions: Admissions,
        send_elsewhere: Callable[[Content], Awaitable[Any]],
        *,
        is_new: bool,
    ) -> None:
        self.id = row.pk
        self.owner = (row.principal, row.context)
        self.sender = sender
        """The sender of the newest request."""
        self._admissions = admissions
        # One per session, since stream ids are unique within a session only.
        self.replay = Replay()
        self.transport = StreamableHTTPServerTransport(
            row.pk,
            event_store=self.replay,
            retry_interval=RETRY_MILLISECONDS,
            idle_timeout=IDLE_SECONDS,
        )
        self._client = client_of(row)
        self._send_elsewhere = send_elsewhere
        self._is_ready = anyio.Event()
        self._dispatcher: Dispatcher | None = None
        self._open: set[str] = set()
        self._listener: Listener | None = None
        self.may_have_missed = not is_new
        """Whether the client may have missed messages of its standalone stream."""

    async def run(self, server: AnnouncingServer, lifespan_state: Any) -> None:
        """Serve messages until the session ends or has been idle here for long."""
        async with self.transport.connect() as (incoming, outgoing):
            elsewhere = Outgoing(outgoing, self._forward)
            self._dispatcher = Dispatcher(
                incoming, elsewhere, inline_methods=frozenset({"initialize"})
            )
            connection = self._connection(self._dispatcher)
            server.listeners.add(connection, self._current_caller)
            self._is_ready.set()
            with self.transport.idle_scope or anyio.CancelScope():
                await serve_connection(
                    server, self._dispatcher, connection=connection, lifespan_state=lifespan_state
                )

    def _connection(self, dispatcher: "Dispatcher") -> Connection:
        """Return a connection whose handshake is done, in this process or another."""
        connection = Connection.for_loop(dispatcher, session_id=self.id)
        connection.client_params = self._client
        connection.protocol_version = self._client.protocol_version
        connection.initialized.set()
        return connection

    async def _current_caller(self) -> Caller:
        admission = await self._admissions.admit(self.sender.request_identity)
        client = f"{self._client.client_info.name}/{self._client.client_info.version}"
        return auth.caller_of_mcp(admission, client=client, session_id=self.id)

    async def ready(self) -> None:
        await self._is_ready.wait()

    @property
    def is_ending(self) -> bool:
        scope = self.transport.idle_scope
        return self.transport.is_terminated or (scope is not None and scope.cancel_called)

    @property
    def is_in_use(self) -> bool:
        """Whether a request is being served or the client is listening."""
        return sdk.has_requests_in_flight(self.transport)

    @property
    def has_stream(self) -> bool:
        """Whether the client's standalone stream is open here."""
        return sdk.has_stream(self.transport)

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Serve the client's standalone stream in the block, which ends when it listens again.

        The client has one such stream; that of an earlier request may be broken unnoticed.
        """
        while (former := self._listener) is not None:
            former.scope.cancel()
            await former.has_ended.wait()
        self._listener = current = Listener()
        try:
            with current.scope:
                yield
        finally:
            self._listener = None
            self.may_have_missed = True
            current.has_ended.set()

    def note_listening_elsewhere(self) -> None:
        """End the client's standalone stream here, since another process serves it now."""
        self.may_have_missed = True
        if self._listener is not None:
            self._listener.scope.cancel()

    def is_running(self, request_id: object) -> bool:
        """Return whether this request of the client is running here."""
        return self._dispatcher is not None and self._dispatcher.is_running(request_id)

    @property
    def protocol_version(self) -> str:
        return str(self._client.protocol_version)

    @contextlib.contextmanager
    def one_at_a_time(self, content: Content) -> Iterator[None]:
        """Refuse a request whose id belongs to another unanswered request."""
        if "method" not in content or "id" not in content:
            yield
            return
        request_id = str(content["id"])
        if request_id in self._open or self.is_running(content["id"]):
            raise Invalid(f"a request with the id {request_id[:64]!r} is running", field="id")
        self._open.add(request_id)
        try:
            yield
        finally:
            self._open.discard(request_id)

    async def take(self, content: Content) -> None:
        """Accept a message from the client that arrived at another process."""
        await sdk.receive_as_client(self.transport, message_of(content))

    async def give(self, content: Content) -> None:
        """Send a message from another process on the client's stream, if it is open here."""
        if self.has_stream:
            await sdk.send_to_client(self.transport, message_of(content))

    async def _forward(self, outgoing: SessionMessage) -> None:
        if not self.has_stream and is_for_stream(outgoing):
            await self._send_elsewhere(
                outgoing.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
            )


class Listener:
    """A request that serves the standalone stream."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.has_ended = anyio.Event()


class Dispatcher(sdk.Dispatcher):
    """Puts the name of its process into the ids of its requests, to route answers back to it."""

    _numbers = itertools.count(1)

    def next_id(self) -> str:
        return f"{bus.this_process()}-{next(self._numbers)}"


@dataclass(frozen=True, slots=True)
class Outgoing(sdk.Outgoing):
    """The outgoing stream of a session; passes each message to `before` first."""

    before: Callable[[SessionMessage], Awaitable[None]]

    async def send(self, item: SessionMessage, /) -> None:
        await self.before(item)
        await self.stream.send(item)


def is_for_stream(outgoing: SessionMessage) -> bool:
    """Return whether the message belongs to no request and so goes on the standalone stream."""
    message, about = outgoing.message, outgoing.metadata
    if isinstance(about, ServerMessageMetadata) and about.related_request_id is not None:
        return False
    if not isinstance(message, JSONRPCRequest | JSONRPCNotification):
        return False
    return message.method not in HEARD_EVERYWHERE


def message_of(content: Content) -> SessionMessage:
    return SessionMessage(jsonrpc_message_adapter.validate_python(content, by_name=False))


def process_that_asked(request_id: object) -> str | None:
    """Return the process named in the id of one of our requests."""
    process, dash, _number = str(request_id).partition("-")
    return process if dash else None


def client_of(row: Session) -> InitializeRequestParams:
    return InitializeRequestParams(
        protocol_version=row.protocol_version,
        capabilities=ClientCapabilities.model_validate(row.client_capabilities, by_name=False),
        client_info=Implementation(name=row.client_name, version=row.client_version),
    )

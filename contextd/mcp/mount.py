"""The MCP server over HTTP: who sends a request, and the sessions of the older versions."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import cast

from django.conf import settings
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from contextd import auth, gate, telemetry
from contextd.callers import Caller, Principal
from contextd.errors import ContextdError, conceal
from contextd.mcp import envelope, server, tools
from contextd.mcp.replay import RETRY_MILLISECONDS, Replay
from contextd.mcp.tools import Context
from contextd.mcp.workers import Workers

LOOKUP_THREADS = 2
IDLE_SECONDS = 30 * 60


class Sender(AuthenticatedUser):
    """Who sent a request. The SDK lets a session be used only by the one who opened it."""

    def __init__(self, principal: Principal, context: str) -> None:
        super().__init__(
            AccessToken(token="", client_id=principal.name, scopes=[], subject=context)
        )
        self.principal = principal
        self.context = context


class Endpoint:
    """The ASGI application at `/mcp`; it answers while `running()` is entered."""

    def __init__(self) -> None:
        # Apart from the calls, so that a full queue of those does not look like a bad token.
        self._lookups = Workers(LOOKUP_THREADS)
        self._sessions: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        workers = Workers(settings.WORKERS)
        self._sessions = sessions = open_sessions(workers)
        try:
            with telemetry.counting_sessions(lambda: len(sessions._server_instances)):
                async with sessions.run():
                    yield
        finally:
            workers.shut_down()
            self._lookups.shut_down()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._sessions is None:
            raise RuntimeError("the MCP server needs an ASGI server with lifespan events")
        try:
            scope = {**scope, "user": await self._sender(scope)}
            if is_handshake_post(scope):
                receive = await envelope.checked(receive)
        except ContextdError as error:
            await gate.refuse(scope, send, error)
        else:
            await self._sessions.handle_request(scope, receive, send)

    async def _sender(self, scope: Scope) -> Sender:
        headers = Headers(scope=scope)
        peer, _port = scope.get("client") or ("", 0)
        token = auth.bearer_token(auth.Arrival.of(headers, peer))
        principal = auth.ANONYMOUS if token is None else await self._principal_of(token)
        return Sender(principal, auth.context_named(headers.get("x-mcp-context")))

    async def _principal_of(self, token: str) -> Principal:
        look_up = partial(auth.principal_of, token)
        try:
            return await self._lookups.run(look_up, seconds=auth.LOOKUP_SECONDS)
        except ContextdError:
            raise
        except Exception as error:
            raise conceal("authentication", error) from None


def is_handshake_post(scope: Scope) -> bool:
    version = Headers(scope=scope).get("mcp-protocol-version")
    return scope["method"] == "POST" and version in (None, *HANDSHAKE_PROTOCOL_VERSIONS)


class ReplayingSessions(StreamableHTTPSessionManager):
    """Sessions whose broken streams can be taken up again."""

    @property
    def event_store(self) -> EventStore:
        """Asked for once a session."""
        return Replay()

    @event_store.setter
    def event_store(self, shared: EventStore | None) -> None:
        """One store for all would mix up the streams of different sessions."""


def open_sessions(workers: Workers) -> StreamableHTTPSessionManager:
    """The sessions of this process. Host and Origin are the gate's; the SDK checks neither."""
    return ReplayingSessions(
        server.build(workers, caller_of),
        retry_interval=RETRY_MILLISECONDS,
        session_idle_timeout=IDLE_SECONDS,
        max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    )


def caller_of(ctx: Context) -> Caller:
    request = cast(Request, ctx.request)  # absent only where there is no HTTP
    sender: Sender = request.scope["user"]
    has_session = ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
    return auth.caller_of_mcp(
        sender.principal,
        context=sender.context,
        client=tools.client_of(ctx),
        # Without sessions the header is whatever the client likes, also a new one each time.
        session_id=request.headers.get("mcp-session-id") if has_session else None,
    )

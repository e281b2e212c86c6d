"""The MCP server over HTTP: authenticates requests and passes them on."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import cast

from django.conf import settings
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from contextd import auth, gate, rates, telemetry
from contextd.auth import Admission
from contextd.callers import Caller
from contextd.concurrency import Buckets
from contextd.errors import ContextdError, WrongMethod
from contextd.mcp import envelope, long_lived, server, tools
from contextd.mcp.admissions import Admissions
from contextd.mcp.peers import Peers
from contextd.mcp.sender import Sender
from contextd.mcp.sessions import Sessions
from contextd.mcp.tools import Context
from contextd.workers import Workers

METHODS = ("POST", "GET", "DELETE")
MODERN_METHODS = ("POST",)
LOOKUP_THREADS = 4


class Endpoint:
    """The ASGI application at `/mcp`; it serves while `running()` is entered."""

    def __init__(self) -> None:
        # Separate from the workers of calls, whose full queue must not look like an invalid token.
        self._lookups = Workers(LOOKUP_THREADS)
        self._admissions = Admissions(self._lookups)
        self._requests = Buckets(rates.read(settings.CONTEXTD_REST_RATE))
        self._sessions: Sessions | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        workers = Workers(settings.WORKERS)
        # The gate checks Host and Origin; the SDK checks neither.
        self._sessions = sessions = Sessions(
            server.build(workers, caller_of, self._current_caller),
            Peers(),
            self._lookups,
            self._admissions,
        )
        try:
            with self._admissions.hearing(), telemetry.counting_sessions(lambda: sessions.held):
                async with sessions.run():
                    yield
        finally:
            workers.shut_down()
            self._lookups.shut_down()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._sessions is None:
            raise RuntimeError("the MCP server needs an ASGI server with lifespan events")
        try:
            check_method(scope)
            sender = await self._sender(scope)
            scope = {**scope, "user": sender}
            # Replies, cancellations and the end of a session release what the client holds.
            requests = 0 if scope["method"] == "DELETE" else 1
            if scope["method"] == "POST":
                receive = await envelope.opened(scope, receive)
                if is_of_session(scope):
                    receive, requests = await envelope.checked(receive)
            if settings.CONTEXTD_RATE_LIMITS:
                self._requests.take(sender.principal.name, requests)
        except ContextdError as error:
            await gate.refuse(scope, send, error)
        else:
            await self._serve(self._sessions.handle_request, scope, receive, send)

    async def _serve(
        self, application: ASGIApp, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if not long_lived.is_long_lived(scope):
            await application(scope, receive, send)
            return
        lapse = partial(self._admissions.lapse, scope["user"].request_identity)
        await long_lived.serve(application, lapse, scope, receive, send)

    async def _sender(self, scope: Scope) -> Sender:
        peer, _port = scope.get("client") or ("", 0)
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        identity = auth.RequestIdentity.of(headers, peer)
        return Sender(identity, await self._admissions.admit(identity))

    async def _current_caller(self, ctx: Context) -> Caller:
        return caller_in(ctx, await self._admissions.admit(sender_of(ctx).request_identity))


def check_method(scope: Scope) -> None:
    method, allowed = scope["method"], METHODS if is_of_session(scope) else MODERN_METHODS
    if method not in allowed:
        raise WrongMethod(
            f"{method[:20]} is not supported by {gate.MCP_PATH} in this version of MCP; "
            f"send {' or '.join(allowed)}",
            field="method",
            allowed=allowed,
        )


def is_of_session(scope: Scope) -> bool:
    version = Headers(scope=scope).get("mcp-protocol-version")
    return version in (None, *HANDSHAKE_PROTOCOL_VERSIONS)


def sender_of(ctx: Context) -> Sender:
    request = cast(Request, ctx.request)  # absent only without HTTP
    sender: Sender = request.scope["user"]
    return sender


def caller_of(ctx: Context) -> Caller:
    return caller_in(ctx, sender_of(ctx).admission)


def caller_in(ctx: Context, admission: Admission) -> Caller:
    headers = cast(Request, ctx.request).headers
    has_session = ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
    return auth.caller_of_mcp(
        admission,
        client=tools.client_of(ctx),
        # Without sessions, the client could evade its rate limit with a new header for each
        # request.
        session_id=headers.get("mcp-session-id") if has_session else None,
    )

"""Checks every HTTP request before any application sees it: Host, Origin, size, headers.

Django's middleware never sees `/mcp`, so this stands in front of both.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contextd import http_errors
from contextd.errors import Busy, ContextdError, Invalid, NotAllowed

MCP_PATH = "/mcp"
ADMIN_PATH = "/admin/"
MAX_CACHED_HOSTS = 256
STOPPING = "the server stops, and it is unknown whether the call was done; check, and call again"
SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603

# A program that reads the first copy and one that reads the last would see different callers.
SINGLE_HEADERS = (
    *("host", "origin", "authorization", "x-mcp-context", "mcp-session-id"),
    *("mcp-protocol-version", "mcp-method", "mcp-name"),
)


class UnknownHost(Invalid):
    status = 421


class BodyTooLarge(Invalid):
    status = 413


class TooSlow(Invalid):
    status = 408


class NotJson(Invalid):
    """The body of a JSON-RPC message cannot be parsed."""


class Gate:
    """Refuses requests that must not reach the application, and limits the rest."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._application(scope, receive, send)
        else:
            await send({"type": "websocket.close"})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The parser keeps white space after a value, which according to RFC 9110 5.5 is not part of
        # it.
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        exchange = Exchange(receive, send, largest_body(scope["path"]))
        try:
            check(scope["method"], scope["path"], headers)
            scope = {**scope, "headers": headers}
            await self._application(scope, exchange.receive, exchange.send)
        except ContextdError as error:
            if exchange.has_answered:
                raise
            await refuse(scope, exchange.send, error)
        except asyncio.CancelledError:  # the process ends, and the time for running calls is over
            if not exchange.has_answered:
                await refuse(scope, exchange.send, Busy(STOPPING))
            raise


class Exchange:
    """One request and its answer: limits the body and records when the answer begins."""

    def __init__(self, receive: Receive, send: Send, largest: int) -> None:
        self._receive, self._send = receive, send
        self._largest = largest
        self._until = asyncio.get_running_loop().time() + settings.BODY_SECONDS
        self._is_whole = False
        self._size = 0
        self.has_answered = False

    async def receive(self) -> Message:
        if self._is_whole:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            seconds = settings.BODY_SECONDS
            raise TooSlow(f"the body did not arrive within {seconds} s", field="body") from None
        self._is_whole = not message.get("more_body", False)
        self._size += len(message.get("body", b""))
        check_size(self._size, self._largest)
        return message

    async def send(self, message: Message) -> None:
        self.has_answered = True
        await self._send(message)


def check(method: str, path: str, raw_headers: list[tuple[bytes, bytes]]) -> None:
    """Raise the reason for which the request must not pass, if there is one."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in raw_headers}
    if len(headers) < len(raw_headers):
        check_doubled(Counter(name.decode("latin-1") for name, _ in raw_headers))
    check_context(headers)
    check_host(headers.get("host", ""))
    if "origin" in headers and (is_for_programs(path) or method not in SAFE_METHODS):
        check_origin(headers["origin"], headers["host"])
    if headers.get("content-length", "").isdecimal():
        check_size(int(headers["content-length"]), largest_body(path))


def check_doubled(counts: Mapping[str, int]) -> None:
    for name in SINGLE_HEADERS:
        if counts.get(name, 0) > 1:
            raise Invalid(f"the header {name} was sent {counts[name]} times", field=name)


def check_context(headers: Mapping[str, str]) -> None:
    """Refuse an empty name, as of an unset variable, which must not mean the default context."""
    if headers.get("x-mcp-context") == "":
        raise Invalid(
            "the header x-mcp-context is empty; name a context, or omit the header for the default",
            field="x-mcp-context",
        )


def check_host(host: str) -> None:
    if not is_one_of(host, tuple(settings.ALLOWED_HOSTS)):
        raise UnknownHost(
            f"this server does not answer to the host name {host[:255]!r}; "
            "add it to CONTEXTD_ALLOWED_HOSTS if it should",
            field="host",
        )


@lru_cache(MAX_CACHED_HOSTS)
def is_one_of(host: str, allowed: tuple[str, ...]) -> bool:
    domain, _port = split_domain_port(host)
    return bool(domain) and validate_host(domain, allowed)


def check_origin(origin: str, host: str) -> None:
    if not is_allowed_origin(origin, host):
        raise NotAllowed(
            f"web pages of {origin[:255]!r} may not call this server; "
            "add that origin to CONTEXTD_ALLOWED_ORIGINS if they should",
            field="origin",
        )


def is_allowed_origin(origin: str, host: str) -> bool:
    return origin in settings.ALLOWED_ORIGINS or is_same_site(origin, host)


def is_same_site(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin.lower())
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc == host.lower()


def is_for_programs(path: str) -> bool:
    """Return whether the path is for programs; pages of other sites may not even read there."""
    return is_mcp(path) or path.startswith("/api/")


def is_mcp(path: str) -> bool:
    return path.rstrip("/") == MCP_PATH


def largest_body(path: str) -> int:
    """Return the limit in bytes; forms for importing files explain their own, lower one."""
    is_import = path.startswith(ADMIN_PATH) and path.endswith("/import/")
    limit: int = settings.IMPORT_BODY_SIZE if is_import else settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    return limit


def check_size(size: int, limit: int) -> None:
    if size > limit:
        raise BodyTooLarge(f"the body is larger than {limit} bytes", field="body")


async def refuse(scope: Scope, send: Send, error: ContextdError) -> None:
    """Answer with the error: as JSON-RPC on `/mcp`, as plain JSON elsewhere."""
    body = as_rpc(error) if is_mcp(scope["path"]) else error.as_dict()
    content = json.dumps(body).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(content)).encode()),
    ]
    if error.status == TooSlow.status:
        headers.append((b"connection", b"close"))
    for name, value in http_errors.headers_of(error).items():
        headers.append((name.lower().encode(), value.encode()))
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


def as_rpc(
    error: ContextdError, *, request_id: object = None, code: int | None = None
) -> dict[str, Any]:
    """Return the error as a JSON-RPC message; `code` is that of its class by default."""
    problem = {"code": code or rpc_code(error), "message": error.text, "data": error.as_dict()}
    return {"jsonrpc": "2.0", "id": request_id, "error": problem}


def rpc_code(error: ContextdError) -> int:
    if isinstance(error, NotJson):
        return PARSE_ERROR
    return INVALID_REQUEST if error.status < 500 else INTERNAL_ERROR

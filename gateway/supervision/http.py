"""Streamable HTTP to an upstream, restricted to permitted addresses."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import httpcore2
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.types import INTERNAL_ERROR, METHOD_NOT_FOUND, ErrorData, JSONRPCError, JSONRPCResponse
from mcp.types.jsonrpc import jsonrpc_message_adapter

from gateway import policy, wire
from gateway.services import Plan
from gateway.supervision.processes import Tail

TIMEOUT = httpx2.Timeout(10, read=None)
BRIEF_SECONDS = 3
"""Seconds for requests that nobody waits for: notifications, replies and session ends."""
JSON = "application/json"
STREAM = "text/event-stream"
ACCEPTED, NOT_FOUND, BAD_GATEWAY, UNAVAILABLE = 202, 404, 502, 503
NOT_CONNECTED = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
"""Errors raised before any part of a request was written."""
FAILING = re.compile(r"HTTP (401|403|5\d\d)\b")
"""Statuses of an unusable server: its answer is no sign of life."""


@asynccontextmanager
async def connected(plan: Plan, tail: Tail) -> AsyncIterator[tuple[Any, Any]]:
    headers = headers_of(plan)
    async with (
        httpx2.AsyncClient(
            transport=GuardedTransport(tail),
            headers=headers,
            timeout=TIMEOUT,
            trust_env=False,
        ) as client,
        streamable_http_client(
            plan.url, http_client=client, max_sse_event_size=wire.max_message_bytes()
        ) as streams,
    ):
        yield streams


def headers_of(plan: Plan) -> httpx2.Headers:
    """Raises Hopeless for a value that no header can have."""
    policy.ensure_headers(plan.settings)  # again, since some may come from the caller
    headers = httpx2.Headers(dict(plan.settings))
    # Lengths are counted before decompression, so compression could bypass the limit.
    headers["accept-encoding"] = "identity"
    return headers


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """Checks the address of each connection, which covers redirects and DNS changes."""

    def __init__(self, tail: Tail) -> None:
        super().__init__(trust_env=False)
        # The constructor has no parameter for it.
        self._pool._network_backend = GuardedNetwork(tail)
        self._tail = tail

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        await request.aread()
        if not is_waited_for(request):
            return await self._notify(request)
        try:
            response = await super().handle_async_request(request)
        except NOT_CONNECTED as error:
            if request.method != "POST":
                raise
            return as_error(UNAVAILABLE, str(error), ErrorData(code=wire.NOT_SENT, message=""))
        if (encoding := response.headers.get("content-encoding", "identity")) != "identity":
            await response.aclose()
            raise httpx2.ReadError(f"an answer in {encoding}, which was not asked for")
        if not (response.is_success and type_of(response).startswith(STREAM)):
            response.stream = Bounded(response.stream)
        if request.method == "POST" and response.is_error:
            return await self._explain(response, has_session="mcp-session-id" in request.headers)
        if request.method == "POST" and type_of(response).startswith(JSON):
            return await answer_to(request, response)
        return response

    async def _notify(self, request: httpx2.Request) -> httpx2.Response:
        """Send a message whose answer is ignored; a server that gives none must not block."""
        try:
            async with asyncio.timeout(BRIEF_SECONDS):
                response = await super().handle_async_request(request)
                await response.aclose()
        except TimeoutError:
            return httpx2.Response(ACCEPTED)
        location = response.headers.get("location")
        kept = {"location": location} if location else None
        return httpx2.Response(response.status_code, headers=kept)

    async def _explain(self, response: httpx2.Response, *, has_session: bool) -> httpx2.Response:
        """Turn a failed response into an error that names the status, which the SDK omits."""
        body = await response.aread()
        await response.aclose()
        status, kind = response.status_code, type_of(response)
        status_line = f"HTTP {status} {response.reason_phrase}".strip()
        error = error_in(body) if kind.startswith(JSON) else None
        is_ill = FAILING.match(status_line) is not None
        if is_ill or error is None:
            self._tail.note(status_line)
        if (
            status == NOT_FOUND
            and has_session
            and (error is None or error.code != METHOD_NOT_FOUND)
        ):
            over = ErrorData(code=wire.SESSION_OVER, message="")
            return as_error(status, error.message if error else status_line, over)
        if (error and not is_ill) or status == NOT_FOUND:
            return httpx2.Response(status, headers={"content-type": kind}, content=body)
        return as_error(status, f"{status_line}: {error.message}" if error else status_line, error)


async def answer_to(request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
    """Return the response, or an error if it answers another request or none.

    The SDK would drop such an answer, so its call would time out.
    """
    body = await response.aread()
    await response.aclose()
    try:
        answer = jsonrpc_message_adapter.validate_json(body, by_name=False)
        asked = jsonrpc_message_adapter.validate_json(request.content, by_name=False)
    except ValueError:
        return as_error(BAD_GATEWAY, "the answer is not a JSON-RPC message that can be read", None)
    answered_id = getattr(answer, "id", None)
    if isinstance(answer, JSONRPCError) and answered_id is None:
        return as_error(BAD_GATEWAY, answer.error.message, answer.error)
    if not isinstance(answer, JSONRPCResponse | JSONRPCError) or str(answered_id) != str(
        getattr(asked, "id", None)
    ):
        return as_error(BAD_GATEWAY, "the answer is not the answer to this call", None)
    return httpx2.Response(response.status_code, headers=response.headers, content=body)


def as_error(status: int, message: str, error: ErrorData | None) -> httpx2.Response:
    error = error or ErrorData(code=INTERNAL_ERROR, message=message)
    error = error.model_copy(update={"message": message})
    content = JSONRPCError(jsonrpc="2.0", id=None, error=error).model_dump_json(by_alias=True)
    return httpx2.Response(status, headers={"content-type": JSON}, content=content)


def is_waited_for(request: httpx2.Request) -> bool:
    """Return whether it is a JSON-RPC request, or the stream of server-initiated messages."""
    if request.method == "POST":
        return b'"method"' in request.content and b'"id"' in request.content
    return request.method == "GET"


def type_of(response: httpx2.Response) -> str:
    return str(response.headers.get("content-type", "")).lower()


def error_in(body: bytes) -> ErrorData | None:
    try:
        message = jsonrpc_message_adapter.validate_json(body, by_name=False)
    except ValueError:
        return None
    return message.error if isinstance(message, JSONRPCError) else None


class Bounded(httpx2.AsyncByteStream):
    """Aborts an answer that exceeds the size limit."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for chunk in self._stream:
            length += len(chunk)
            if length > wire.max_message_bytes():
                raise httpx2.ReadError(f"an answer is {wire.too_large()}")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class GuardedNetwork(httpcore2.AnyIOBackend):
    def __init__(self, tail: Tail) -> None:
        super().__init__()
        self._tail = tail

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            addresses = await policy.resolve(host, port)
        except OSError as error:
            self._tail.note(str(error))
            raise httpcore2.ConnectError(str(error)) from None
        connect = partial(
            super().connect_tcp,
            port=port,
            timeout=timeout,
            local_address=local_address,
            socket_options=socket_options,
        )
        for address in addresses[:-1]:
            with contextlib.suppress(httpcore2.ConnectError, httpcore2.ConnectTimeout):
                return await connect(address)
        return await connect(addresses[-1])

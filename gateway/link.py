"""Connect processes that serve clients to the one that runs upstreams: MCP on a socket.

When the connection ends, its calls fail; none is repeated.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import Context
from functools import partial
from typing import Any, ClassVar, cast
from weakref import WeakKeyDictionary

import anyio
from mcp import ClientSession, MCPError
from mcp.shared.dispatcher import CallOptions, ProgressFnT
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.types import (
    CONNECTION_CLOSED,
    REQUEST_TIMEOUT,
    DiscoverResult,
    Implementation,
    ServerCapabilities,
)
from mcp.types.version import LATEST_MODERN_VERSION

import contextd
from contextd.conversations import Conversation, Foreign
from contextd.errors import (
    Busy,
    ContextdError,
    Declined,
    Invalid,
    TimedOut,
    Unsupported,
    UpstreamFailed,
)
from contextd.mcp import sdk
from contextd.operations import RelayedToolResult
from contextd.prompts import RelayedPrompt
from contextd.resources import RelayedContents
from gateway import answers, offering, place, services, wire
from gateway.offering import Offer
from gateway.wire import Peer

Report = Callable[[float, float | None, str | None], Awaitable[None]]

Session = tuple[ClientSession, JSONRPCDispatcher[Any]]

CONNECT_SECONDS = 5
UNSENT = "the gateway is restarting; nothing was sent, so the call can be made again"
GONE = "the gateway ended during the call; it is unknown whether the upstream acted on it"
LATE = "the gateway did not answer in time; it is unknown whether the upstream acted on it"
UNFORESEEN = "the call failed inside the gateway; see its log"
FAILURES = {CONNECTION_CLOSED: GONE, wire.NOT_SENT: UNSENT}

_KNOWN: dict[str, type[ContextdError]] = {"timeout": TimedOut, "busy": Busy, "validation": Invalid}
_PEER = DiscoverResult(
    supported_versions=[LATEST_MODERN_VERSION],
    capabilities=ServerCapabilities(),
    result_type="complete",
    ttl_ms=0,
    cache_scope="private",
)


async def call(
    offer: Offer, arguments: Mapping[str, Any], principal: str, conversation: Conversation
) -> RelayedToolResult:
    """Call the tool on behalf of the principal. Raises UpstreamFailed, TimedOut or Busy."""
    params = {"name": offer.name, "arguments": dict(arguments)}
    result = await exchange(offer, "tools/call", params, principal, conversation)
    if result.get("isError"):
        raise answers.failure(offer.canonical, result)
    if answers.is_large(result.get("structuredContent")):
        return await asyncio.to_thread(answers.success, offer, result)
    return answers.success(offer, result)


async def say(
    offer: Offer, arguments: Mapping[str, str], principal: str, conversation: Conversation
) -> RelayedPrompt:
    """Return the prompt rendered with the arguments. Raises as `call` does."""
    params = {"name": offer.name, "arguments": dict(arguments)}
    return answers.said(
        offer, await exchange(offer, "prompts/get", params, principal, conversation)
    )


async def read(offer: Offer, principal: str, conversation: Conversation) -> RelayedContents:
    """Return the contents of the resource. Raises as `call` does."""
    params = {"uri": offer.name}
    result = await exchange(offer, "resources/read", params, principal, conversation)
    return answers.contents(offer, result)


async def exchange(
    offer: Offer,
    method: str,
    params: Mapping[str, Any],
    principal: str,
    conversation: Conversation,
) -> dict[str, Any]:
    """Return the raw result; relay the upstream's questions to the caller in the meantime."""
    found = {theirs: conversation.header(ours) for theirs, ours in offer.headers.items()}
    asked: dict[str, Any] = {
        "namespace": offer.namespace,
        "method": method,
        "name": offer.canonical,
        "params": params,
        "principal": principal,
        "headers": {theirs: value for theirs, value in found.items() if value is not None},
        "replied": list(conversation.replied),
    }
    result = await ask("contextd/ask", asked, offer.seconds, conversation.report)
    while "result" not in result:
        answer = {"held": result["held"], "principal": principal}
        answer |= await reply_to(result["questions"], answer, conversation)
        result = await ask("contextd/answer", answer, offer.seconds, conversation.report)
    return cast(dict[str, Any], result["result"])


async def reply_to(
    questions: Mapping[str, Any], held: Mapping[str, Any], conversation: Conversation
) -> dict[str, Any]:
    """Return the caller's replies, or the reason for having none."""
    put = {key: Foreign(one["method"], one.get("params") or {}) for key, one in questions.items()}
    try:
        return {"replies": dict(await conversation.pass_on(put))}
    except (Unsupported, Declined) as refusal:
        return {"refusal": refusal.message}
    except asyncio.CancelledError:
        # Also when the call is cancelled, which must not stop this.
        await asyncio.shield(asyncio.create_task(ask("contextd/drop", dict(held), CONNECT_SECONDS)))
        raise


async def ask(
    method: str, params: dict[str, Any], seconds: float, report: Report | None = None
) -> dict[str, Any]:
    """Send one request to the gateway. Raises UpstreamFailed, TimedOut or Busy."""
    options: CallOptions = {"timeout": seconds}
    if report:
        options["on_progress"] = cast(ProgressFnT, report)
    session, dispatcher = await Line.of_this_loop().opened()
    request = {"method": method, "params": params}
    sdk.stamp(session, request, options)
    try:
        return await dispatcher.send_raw_request(method, params, options)
    except MCPError as error:
        raise as_ours(error) from None


class Line:
    """The connection that all calls of an event loop share; replaced when it ends."""

    _of_loops: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, "Line"]] = WeakKeyDictionary()

    def __init__(self) -> None:
        self._ended = anyio.Event()
        self._opened: asyncio.Future[Session] = asyncio.get_running_loop().create_future()
        # A new context, since the connection outlives the call that opened it.
        self._task = asyncio.create_task(self._run(), context=Context())

    @classmethod
    def of_this_loop(cls) -> "Line":
        loop = asyncio.get_running_loop()
        line = cls._of_loops.get(loop)
        if line is None or line.has_ended:
            line = cls._of_loops[loop] = cls()
        return line

    @property
    def has_ended(self) -> bool:
        return self._ended.is_set() or self._task.done()

    async def opened(self) -> Session:
        return await asyncio.shield(self._opened)

    async def _run(self) -> None:
        try:
            async with connected(self._ended) as session:
                self._opened.set_result(session)
                await self._ended.wait()
        except Exception as error:  # waiting calls must fail, whatever the reason
            if self._opened.done():
                raise
            self._opened.set_exception(error)


@asynccontextmanager
async def connected(ended: anyio.Event) -> AsyncIterator[Session]:
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            reader, writer = await place.reach()
    except place.NotAdmitted as error:
        raise UpstreamFailed(str(error)) from None
    except (OSError, ValueError, TimeoutError):
        raise UpstreamFailed(f"{place.not_running()}, so no upstream can be called") from None
    try:
        async with wire.connected(peer_of(reader, writer), ended) as (incoming, outgoing):
            dispatcher: JSONRPCDispatcher[Any] = JSONRPCDispatcher(incoming, outgoing)
            ours = Implementation(name="contextd", version=contextd.__version__)
            async with ClientSession(dispatcher=dispatcher, client_info=ours) as session:
                session.adopt(_PEER)
                yield session, dispatcher
    finally:
        writer.close()


def peer_of(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Peer:
    async def write(line: bytes) -> None:
        writer.write(line)
        await writer.drain()

    return Peer(
        partial(reader.read, wire.CHUNK_BYTES), write, max_line_bytes=wire.MAX_OWN_LINE_BYTES
    )


def as_ours(error: MCPError) -> ContextdError:
    """Convert the gateway's error, or the lack of a response, into one of ours."""
    data, code = error.error.data, error.error.code
    if not isinstance(data, Mapping) or "category" not in data:
        if code == REQUEST_TIMEOUT:
            return TimedOut(LATE)
        return UpstreamFailed(FAILURES.get(code, UNFORESEEN))
    category = _KNOWN.get(str(data["category"]), UpstreamFailed)
    details = {"cause": data["cause"]} if data.get("cause") else {}
    return category(error.error.message, **details)


def control(action: str, namespace: str) -> str:
    """Have the gateway `restart` or `refresh` an upstream; return its new state.

    Meant for commands and pages, which have no event loop.
    """
    seconds = offering.seconds_of_start(services.named(namespace))
    asked = ask(f"contextd/{action}", {"namespace": namespace}, seconds)
    return str(asyncio.run(asked)["state"])

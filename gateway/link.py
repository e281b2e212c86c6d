"""The way from a process that serves clients to the one that runs upstreams: MCP on a socket.

Each call has a connection of its own: whatever happens to either side ends it, and so the call.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

from django.conf import settings
from mcp import ClientSession, MCPError
from mcp.shared.dispatcher import CallOptions, ProgressFnT
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.types import DiscoverResult, Implementation, ServerCapabilities
from mcp.types.version import LATEST_MODERN_VERSION

import contextd
from contextd.embedded import addresses
from contextd.errors import Busy, ContextdError, Invalid, TimedOut, UpstreamFailed
from contextd.operations import Relayed
from gateway import answers, wire
from gateway.services import Offer
from gateway.wire import Peer

Report = Callable[[float, float | None, str | None], Awaitable[None]]

PRINCIPAL = "contextd/principal"
CONNECT_SECONDS = 5
CONTROL_SECONDS = 20
NOT_RUNNING = "the gateway is not running, so no upstream can be called; start `manage.py up`"
GONE = "the gateway ended during the call; whether the upstream did something is not known"

_KNOWN: dict[str, type[ContextdError]] = {"timeout": TimedOut, "busy": Busy, "validation": Invalid}
_PEER = DiscoverResult(
    supported_versions=[LATEST_MODERN_VERSION],
    capabilities=ServerCapabilities(),
    result_type="complete",
    ttl_ms=0,
    cache_scope="private",
)


def socket_path() -> Path:
    return addresses.socket_directory(settings.DATA_DIR) / "gateway.sock"


async def call(
    offer: Offer, arguments: Mapping[str, Any], principal: str, report: Report
) -> Relayed:
    """Call the tool on behalf of the principal. Raises UpstreamFailed, TimedOut or Busy."""
    params = {
        "name": offer.canonical,
        "arguments": dict(arguments),
        "_meta": {PRINCIPAL: principal},
    }
    result = await ask("tools/call", params, offer.seconds, report)
    if result.get("isError"):
        raise answers.failure(offer.canonical, result)
    return answers.success(result, as_yaml=not offer.gives_plain_json)


async def ask(
    method: str, params: dict[str, Any], seconds: float, report: Report | None = None
) -> dict[str, Any]:
    """One request to the gateway, on a connection of its own."""
    options: CallOptions = {"timeout": seconds}
    if report:
        options["on_progress"] = cast(ProgressFnT, report)
    async with connected() as (session, dispatcher):
        request = {"method": method, "params": params}
        # The session knows how a request of its version is marked, and has no public way to.
        session._stamp(request, options)
        try:
            return await dispatcher.send_raw_request(method, params, options)
        except MCPError as error:
            failure = as_ours(error)
    raise failure  # here, where no group of tasks wraps it


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[ClientSession, JSONRPCDispatcher[Any]]]:
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            reader, writer = await asyncio.open_unix_connection(socket_path())
    except (OSError, TimeoutError):
        raise UpstreamFailed(NOT_RUNNING) from None
    try:
        async with wire.connected(peer_of(reader, writer)) as (incoming, outgoing):
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

    return Peer(partial(reader.read, wire.CHUNK), write)


def as_ours(error: MCPError) -> ContextdError:
    """What the gateway said of the failure; without any word of it, the gateway is gone."""
    data = error.error.data
    if not isinstance(data, Mapping) or "category" not in data:
        return UpstreamFailed(GONE)
    category = _KNOWN.get(str(data["category"]), UpstreamFailed)
    details = {"cause": data["cause"]} if data.get("cause") else {}
    return category(error.error.message, **details)


def control(action: str, namespace: str) -> str:
    """Have the gateway `restart` or `refresh` an upstream, and its state then.

    For commands and pages, which have no event loop.
    """
    asked = ask(f"contextd/{action}", {"namespace": namespace}, CONTROL_SECONDS)
    return str(asyncio.run(asked)["state"])

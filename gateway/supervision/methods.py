"""The MCP methods of the gateway: those of every server, and a few of contextd's own.

A tool or prompt is named `namespace:name` here, and a resource has its `upstream://` address.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar, get_args

from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp.types import (
    CLIENT_CAPABILITIES_META_KEY,
    SERVER_INFO_META_KEY,
    ClientCapabilities,
    SubscriptionsListenRequestParams,
)
from pydantic import BaseModel, ValidationError

import contextd
from contextd import changes
from contextd.bus import Change, ListName
from contextd.conversations import Foreign
from contextd.errors import Unsupported
from contextd.mcp import foreign, pagination
from contextd.mcp.lifecycle import LISTEN
from contextd.mcp.listeners import burst
from gateway import names, offering, rpc
from gateway.freshness import Freshness
from gateway.models import Kind
from gateway.rpc import Failed
from gateway.supervision import failures, lists
from gateway.supervision.answering import Handler, Request
from gateway.supervision.exchange import Asked, Exchange
from gateway.supervision.supervisor import Supervisor

DIRECT = "direct"
"""The principal of a client that is no process of contextd, so names no caller."""
UNCACHED = {"ttlMs": 0, "cacheScope": "private"}
LISTS = {method: (kind, key) for kind, (method, key) in lists.LIST_METHODS.items()}
KIND_OF_METHOD = {
    "tools/call": Kind.TOOL,
    "prompts/get": Kind.PROMPT,
    "resources/read": Kind.RESOURCE,
}

Form = TypeVar("Form", bound=BaseModel)


class Caller(BaseModel):
    """Whom a process of contextd calls for; it has checked that they may."""

    principal: str = DIRECT
    headers: dict[str, str] = {}


class Call(BaseModel):
    """A request for an upstream; `uri` stands for a resource, `name` for anything else."""

    name: str = ""
    uri: str = ""
    arguments: dict[Any, Any] | None = None
    inputResponses: dict[Any, Any] | None = None
    requestState: str = ""


class Page(BaseModel):
    cursor: str | None = None


class OfUpstream(BaseModel):
    namespace: str


class OfExchange(BaseModel):
    requestState: str


def build(supervisor: Supervisor) -> Mapping[str, Handler]:
    """Return what answers each method."""
    methods = Methods(supervisor)
    return {
        "server/discover": discover,
        LISTEN: listen,
        **{name: partial(methods.list_features, *one) for name, one in LISTS.items()},
        **dict.fromkeys(KIND_OF_METHOD, methods.relay),
        "contextd/drop": methods.drop,
        "contextd/restart": methods.restart,
        "contextd/refresh": methods.refresh,
    }


async def discover(request: Request) -> dict[str, Any]:
    ours = {"name": "contextd-gateway", "version": contextd.__version__}
    return {
        "supportedVersions": [rpc.VERSION],
        "capabilities": {name: {"listChanged": True} for name in get_args(ListName)},
        "_meta": {SERVER_INFO_META_KEY: ours},
        **UNCACHED,
    }


async def listen(request: Request) -> dict[str, Any]:
    """Tell which lists change, as far as the client wants to know, until it cancels this."""
    loop = asyncio.get_running_loop()
    heard: asyncio.Queue[Change] = asyncio.Queue()
    wanted = parse(SubscriptionsListenRequestParams, request.params).notifications
    told = wanted.model_dump(by_alias=True, exclude_defaults=True)
    flags = {name: f"{name}ListChanged" for name in get_args(ListName)}
    honored = {kind: flag for kind, flag in flags.items() if told.get(flag)}
    meta = {"_meta": {SUBSCRIPTION_ID_META_KEY: request.id}}

    def note(announcement: changes.Announcement) -> None:
        if isinstance(announcement, Change) and not announcement.uri:
            loop.call_soon_threadsafe(heard.put_nowait, announcement)

    end = changes.subscribe(note)
    try:
        acknowledged = {**meta, "notifications": dict.fromkeys(honored.values(), True)}
        await request.notify("notifications/subscriptions/acknowledged", acknowledged)
        while True:
            for kind in honored.keys() & await burst(heard):
                await request.notify(f"notifications/{kind}/list_changed", meta)
    finally:
        end()


class OfferedLately:
    """What was offered within the last second and since the last change that was announced."""

    def __init__(self, do: Callable[[Callable[[], None]], Awaitable[None]]) -> None:
        self._do = do
        self._known: set[tuple[Kind, str, str]] = set()
        self._freshness = Freshness()

    async def check(self, *feature: *tuple[Kind, str, str]) -> None:
        """Raise NotFound for what clients do not see."""
        began = self._freshness.now()
        if not self._freshness.lasts:
            self._known.clear()
            self._freshness.begin(began)
        if feature in self._known:
            return
        await self._do(partial(offering.check_offered, *feature))
        if self._freshness.is_undisturbed(began):
            self._known.add(feature)


class Methods:
    """The methods that need the upstreams or the database."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor, self._exchanges = supervisor, supervisor.exchanges
        self._offered = OfferedLately(supervisor.do)

    async def list_features(self, kind: Kind, key: str, request: Request) -> dict[str, Any]:
        whole = await self._supervisor.do(partial(offering.listed, kind))
        page, cursor = pagination.cut(whole, parse(Page, request.params))
        return {key: page, **UNCACHED, **({"nextCursor": cursor} if cursor else {})}

    async def relay(self, request: Request) -> dict[str, Any]:
        """Return the upstream's answer, or its questions; the caller answers them in a retry."""
        call = parse(Call, request.params)
        asked = asked_in(request.method, call, caller_of(request))
        await self._offered.check(KIND_OF_METHOD[asked.method], asked.namespace, asked.own)
        offered = parse(ClientCapabilities, request.meta[CLIENT_CAPABILITIES_META_KEY])
        exchange = self._exchange_of(asked, call, request.meta.get(rpc.REFUSAL, ""))
        result = await self._follow(exchange, request, offered)
        return {**UNCACHED, **result} if asked.method == "resources/read" else result

    def _exchange_of(self, asked: Asked, call: Call, refusal: str) -> Exchange:
        """Return the exchange that the call continues, or begin one. Raises Failed."""
        replies = call.inputResponses or {}
        found = self._exchanges.find(call.requestState, asked.principal)
        if found and (found.asked.method, found.asked.name) == (asked.method, asked.name):
            found.answer(replies, refusal)
            return found
        if call.requestState or replies or refusal:
            raise failures.unavailable("the call that asked has ended; make it again")
        return self._exchanges.begin(asked, self._supervisor.perform)

    async def _follow(
        self, exchange: Exchange, request: Request, offered: ClientCapabilities
    ) -> dict[str, Any]:
        """Return the result or the open questions, if the client can answer such questions."""
        while True:
            result = await self._exchanges.follow(exchange, request.report)
            questions = {} if exchange.is_done else result["inputRequests"]
            refusal = refusal_of(questions, offered)
            if not refusal:
                return result
            exchange.answer({}, refusal)

    async def drop(self, request: Request) -> dict[str, Any]:
        state = parse(OfExchange, request.params).requestState
        if exchange := self._exchanges.find(state, caller_of(request).principal):
            await exchange.drop()
        return {}

    async def restart(self, request: Request) -> dict[str, Any]:
        return await self._supervisor.restart(parse(OfUpstream, request.params).namespace)

    async def refresh(self, request: Request) -> dict[str, Any]:
        return await self._supervisor.refresh(parse(OfUpstream, request.params).namespace)


def caller_of(request: Request) -> Caller:
    return parse(Caller, request.meta.get(rpc.CALLER, {}))


def asked_in(method: str, call: Call, caller: Caller) -> Asked:
    params: dict[str, Any]
    if method == "resources/read":
        namespace, own = names.parts_of_address(call.uri)
        params = {"uri": own}
    else:
        namespace, own = names.parts_of_canonical(call.name)
        params = {"name": own, "arguments": call.arguments or {}}
    return Asked(
        method=method,
        namespace=namespace,
        own=own,
        params=params,
        principal=caller.principal,
        headers=caller.headers,
    )


def refusal_of(questions: Mapping[str, Mapping[str, Any]], offered: ClientCapabilities) -> str:
    """Return why the client cannot answer the questions, or an empty string."""
    try:
        for one in questions.values():
            foreign.check(offered, Foreign(one["method"], one.get("params") or {}))
    except Unsupported as error:
        return error.message
    return ""


def parse(form: type[Form], given: Any) -> Form:
    """Raises Failed."""
    try:
        return form.model_validate(given, by_name=False)
    except ValidationError as error:
        first = error.errors()[0]
        told = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise Failed(told, "validation") from None

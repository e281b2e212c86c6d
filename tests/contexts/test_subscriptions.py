"""Subscribers of a resource are notified of changes as long as they may read it."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx2
import pytest
from django.contrib.auth.models import User
from mcp import MCPError, types

from contextd.bus import Change
from contextd.mcp import listeners
from contextd.mcp.streams import MAX_STREAMS_PER_PRINCIPAL
from contextd.models import Project
from contexts import services, tokens
from contexts.models import Context, Token
from tests.clients import LEGACY_VERSIONS, over_http
from tests.conftest import Call
from tests.contexts.conftest import MakeContext, MakeToken, grant, make_project
from tests.plain_http import answer_of, events, modern, open_session, rpc
from tests.server import Server

pytestmark = [pytest.mark.anyio, pytest.mark.django_db(transaction=True)]

UPDATED = "notifications/resources/updated"
RECENT = "checkpoint://recent?project_path=%2Fw%2Fshop"


@pytest.fixture
def saved(call: Call) -> str:
    """Return the address of a checkpoint of /w/shop."""
    make_project("/w/shop")
    return f"checkpoint://{call('checkpoint_save', summary='one', project_path='/w/shop').id}"


@pytest.fixture
def insider(
    saved: str, ann: User, make_context: MakeContext, token_of: MakeToken
) -> Mapping[str, str]:
    """Return the headers of a user who sees the project."""
    grant(make_context("shop", projects=(Project.objects.get(paths__path="/w/shop"),)), ann)
    return {**token_of(ann), "X-MCP-Context": "shop"}


@pytest.fixture
def outsider(
    saved: str, ann: User, make_context: MakeContext, token_of: MakeToken
) -> Mapping[str, str]:
    """Return the headers of a user who sees another project."""
    grant(make_context("site", projects=(make_project("/w/site"),)), ann)
    return {**token_of(ann), "X-MCP-Context": "site"}


@pytest.mark.parametrize("version", LEGACY_VERSIONS)
async def test_a_subscription_is_refused_as_reading_is(
    server: Server, saved: str, outsider: Mapping[str, str], version: str
) -> None:
    async with over_http(server, version, outsider) as session:
        for uri in (saved, "checkpoint://999999", "nothing://here"):
            with pytest.raises(MCPError) as of_reading:
                await session.read_resource(uri)
            with pytest.raises(MCPError) as of_subscribing:
                await session.send_request(subscribe(uri), types.EmptyResult)
            assert of_subscribing.value.error == of_reading.value.error


def subscribe(uri: str) -> types.SubscribeRequest:
    return types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri))


def test_a_stream_with_an_unreadable_resource_is_refused_as_reading_is(
    http: httpx2.Client, saved: str, outsider: Mapping[str, str]
) -> None:
    def refusal(method: str, **params: Any) -> Any:
        request = modern(method, **params)
        named = {"Mcp-Name": params["uri"]} if "uri" in params else {}
        headers = {**request["headers"], **named, **outsider}
        return answer_of(http.post("/mcp", json=request["json"], headers=headers))["error"]

    for uri in (saved, "checkpoint://999999"):
        notifications = {"toolsListChanged": True, "resourceSubscriptions": [uri]}
        of_stream = refusal("subscriptions/listen", notifications=notifications)
        assert of_stream == refusal("resources/read", uri=uri)


def test_a_stream_has_a_limited_number_of_subscriptions(http: httpx2.Client) -> None:
    many = [f"checkpoint://{number}" for number in range(101)]
    request = modern("subscriptions/listen", notifications={"resourceSubscriptions": many})

    error = answer_of(http.post("/mcp", **request))["error"]

    assert (error["code"], error["message"]) == (-32602, "one stream has at most 100 resources")


def test_one_principal_has_a_limited_number_of_streams(
    server: Server, ann: User, token_of: MakeToken
) -> None:
    limits = httpx2.Limits(max_connections=None)
    with httpx2.Client(base_url=server.url, limits=limits) as http, ExitStack() as streams:
        for _ in range(MAX_STREAMS_PER_PRINCIPAL):
            streams.enter_context(listening_now(http, token := token_of(ann), []))
        request = modern("subscriptions/listen", notifications={})
        headers = {**request["headers"], **token}
        error = answer_of(http.post("/mcp", json=request["json"], headers=headers))["error"]
        streams.enter_context(listening_now(http, {}, []))

    assert error["code"] == -32603
    assert error["message"] == "[timeout] you have 100 streams open; end some of them first"


@contextmanager
def listening_before(
    http: httpx2.Client, headers: Mapping[str, str], uris: list[str]
) -> Iterator[Iterator[Any]]:
    """Subscribe and listen in a session, as versions up to 2025-11-25 do."""
    session = open_session(http, dict(headers))
    for number, uri in enumerate(uris, 2):
        subscribing = rpc("resources/subscribe", {"uri": uri}, id=number)
        assert "result" in answer_of(http.post("/mcp", json=subscribing, headers=session))
    with http.stream("GET", "/mcp", headers=session) as stream:
        yield events(stream)


@contextmanager
def listening_now(
    http: httpx2.Client, headers: Mapping[str, str], uris: list[str]
) -> Iterator[Iterator[Any]]:
    listen = modern("subscriptions/listen", notifications={"resourceSubscriptions": uris})
    headers = {**listen["headers"], **headers}
    with http.stream("POST", "/mcp", json=listen["json"], headers=headers) as stream:
        messages = events(stream)
        assert next(messages)["method"] == "notifications/subscriptions/acknowledged"
        yield messages


@pytest.mark.parametrize("listening", [listening_before, listening_now])
def test_a_change_is_announced_until_the_project_is_removed(
    http: httpx2.Client, call: Call, saved: str, insider: Mapping[str, str], listening: Any
) -> None:
    checkpoint = saved.removeprefix("checkpoint://")
    with listening(http, insider, [saved, RECENT]) as messages:
        updates = (message["params"]["uri"] for message in messages if message["method"] == UPDATED)
        call("checkpoint_update", id=checkpoint, summary="two")
        before = [next(updates), next(updates)]
        Context.objects.get(name="shop").projects.clear()
        call("checkpoint_update", id=checkpoint, summary="three")
        after = next(updates)

    assert (before, after) == ([saved, RECENT], RECENT)


async def test_repeated_changes_of_a_resource_are_announced_once() -> None:
    news: listeners.Changes = asyncio.Queue()
    for uri in (RECENT, saved := "checkpoint://7", RECENT):
        news.put_nowait(Change(kind="resources", uri=uri))

    announced = listeners.waiting(await news.get(), news)

    assert [change.uri for change in announced] == [RECENT, saved]


LOSSES: list[Callable[[], object]] = [
    lambda: tokens.revoke(Token.objects.get()),
    lambda: services.revoke(Context.objects.get(name="shop"), user="ann"),
]


@pytest.mark.parametrize("lose", LOSSES)
@pytest.mark.parametrize("listening", [listening_before, listening_now])
def test_a_stream_ends_when_the_permission_is_revoked(
    http: httpx2.Client,
    call: Call,
    saved: str,
    insider: Mapping[str, str],
    listening: Any,
    lose: Callable[[], object],
) -> None:
    with listening(http, insider, [saved]) as messages:
        lose()
        call("checkpoint_update", id=saved.removeprefix("checkpoint://"), summary="two")
        rest = [message["method"] for message in messages]

    assert UPDATED not in rest

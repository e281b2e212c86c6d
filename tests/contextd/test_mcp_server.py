"""The MCP server in this process: what must not leave it, and what it costs a client to read."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, NoReturn

import httpx2
import pytest
from mcp import Client, MCPError
from pytest_django.fixtures import Settings

from contextd import operations
from contextd.auth import ANONYMOUS, Admission, caller_of_mcp
from contextd.callers import Caller, Entry
from contextd.mcp import pagination
from contextd.mcp.mount import Endpoint
from contextd.mcp.server import build
from contextd.mcp.tools import as_tool
from contextd.workers import Workers
from tests.clients import MODERN_VERSION
from tests.plain_http import ACCEPT, initialize, modern, rpc

pytestmark = pytest.mark.anyio

SECRET = "the secret of the house"
ERAS = ["legacy", MODERN_VERSION]


@pytest.fixture
def workers() -> Iterator[Workers]:
    workers = Workers(threads=1)
    yield workers
    workers.shut_down()


def fail(*args: Any) -> NoReturn:
    raise RuntimeError(SECRET)


def anybody(ctx: Any) -> Caller:
    return caller_of_mcp(Admission(ANONYMOUS, Entry()), client="-", session_id=None)


@pytest.mark.parametrize("era", ERAS)
async def test_a_bug_in_the_door_returns_only_a_reference(
    workers: Workers, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with Client(build(workers, identify=fail, renew=fail), mode=era) as client:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("status", {})

    assert raised.value.code == -32603
    assert raised.value.message.startswith("[internal] something went wrong on our side")
    assert raised.value.data["details"]["reference"] in caplog.text
    assert SECRET in caplog.text
    assert SECRET not in str(raised.value.error)


@pytest.mark.parametrize("era", ERAS)
async def test_what_the_client_did_wrong_stays_its_own_fault(workers: Workers, era: str) -> None:
    async with Client(build(workers, anybody, renew=fail), mode=era) as client:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("no_such_tool", {})

    assert raised.value.code == -32602


async def test_a_bug_in_authentication_returns_only_a_reference(
    settings: Settings, transactional_db: None, caplog: pytest.LogCaptureFixture
) -> None:
    settings.CONTEXTD_AUTHENTICATE = f"{__name__}.fail"
    endpoint = Endpoint()
    async with (
        endpoint.running(),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(endpoint)) as http,
    ):
        response = await http.post(
            "http://localhost/mcp", json={}, headers={"Authorization": "Bearer x"}
        )

    assert response.status_code == 500
    assert response.json()["error"]["code"] == -32603
    assert response.json()["error"]["data"]["details"]["reference"] in caplog.text
    assert SECRET in caplog.text
    assert SECRET not in response.text


@asynccontextmanager
async def client_of_endpoint() -> AsyncIterator[httpx2.AsyncClient]:
    """Yield a client of an endpoint that was made with the settings of the test."""
    endpoint = Endpoint()
    async with (
        endpoint.running(),
        httpx2.AsyncClient(
            transport=httpx2.ASGITransport(endpoint),
            base_url="http://localhost",
            headers={"Accept": ACCEPT},
        ) as http,
    ):
        yield http


async def test_requests_that_reach_no_operation_have_a_rate(
    settings: Settings, transactional_db: None
) -> None:
    settings.CONTEXTD_REST_RATE = "3/h"
    async with client_of_endpoint() as http:
        batch = [rpc("ping", id=number) for number in range(3)]
        opened = await http.post("/mcp", json=initialize("2025-03-26"))
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        too_large = await http.post("/mcp", json=batch, headers=session)
        for _ in range(2):
            listed = await http.post("/mcp", **modern("tools/list"))
        refused = await http.post("/mcp", **modern("tools/list"))

    assert (too_large.status_code, listed.status_code) == (429, 200)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 1
    assert refused.json()["error"]["message"].startswith("too many requests")


async def test_the_rate_refuses_no_reply_no_notification_and_no_end_of_a_session(
    settings: Settings, transactional_db: None
) -> None:
    settings.CONTEXTD_REST_RATE = "1/h"
    async with client_of_endpoint() as http:
        opened = await http.post("/mcp", json=initialize("2025-03-26"))
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        cancelled = {"method": "notifications/cancelled", "params": {"requestId": 7}}
        sent: list[dict[str, Any]] = [
            {"id": 7, "result": {}},
            {"id": 7, "error": {"code": 1, "message": ""}},
            cancelled,
        ]
        messages: list[Any] = [{"jsonrpc": "2.0", **message} for message in sent]
        answers = [
            await http.post("/mcp", json=message, headers=session)
            for message in [*messages, messages, rpc("ping")]
        ]
        ended = await http.delete("/mcp", headers=session)

    assert [answer.status_code for answer in answers] == [202, 202, 202, 202, 429]
    assert ended.status_code == 200


async def test_without_lifespan_events_it_says_what_is_missing() -> None:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(Endpoint())) as http:
        with pytest.raises(RuntimeError, match="lifespan"):
            await http.post("http://localhost/mcp", json={})


def test_the_list_of_tools_repeats_nothing() -> None:
    """Every word of it fills the context of the model that reads it."""
    tools = [as_tool(operation, structured=True) for operation in operations.installed()]

    for tool in tools:
        schema = json.dumps([tool.input_schema, tool.output_schema])
        assert '"title": "Project Path"' not in schema
        assert str(tool.description) not in schema


@pytest.mark.parametrize("era", ERAS)
async def test_many_tools_are_listed_in_pages(
    workers: Workers, era: str, monkeypatch: pytest.MonkeyPatch, transactional_db: None
) -> None:
    monkeypatch.setattr(pagination, "PAGE_SIZE", 2)
    async with Client(build(workers, anybody, renew=fail), mode=era) as client:
        whole: list[str] = []
        cursor = None
        while not whole or cursor:
            page = await client.list_tools(cursor=cursor)
            whole += [tool.name for tool in page.tools]
            cursor = page.next_cursor
            assert len(page.tools) <= 2

    assert len(whole) == len(set(whole)) == len(operations.installed())


@pytest.mark.parametrize("era", ERAS)
async def test_a_full_queue_is_reported_as_busy(era: str, caplog: pytest.LogCaptureFixture) -> None:
    workers = Workers(threads=1, waiting=0)
    async with Client(build(workers, anybody, renew=fail), mode=era) as client:
        workers._places.acquire()
        with pytest.raises(MCPError, match=r"^\[timeout\] too many calls are waiting") as raised:
            await client.list_tools()

    workers.shut_down()
    assert raised.value.data["category"] == "timeout"
    assert "reference" not in caplog.text

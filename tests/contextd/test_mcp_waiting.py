"""Operations that wait: they ask, report and take their time, in each version's own way."""

import statistics
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import psycopg
import pytest
from django.conf import settings
from django.db import connection
from mcp import Client, ClientSession, MCPError, types
from mcp.client.streamable_http import streamable_http_client

from contextd.models import Job
from tests.clients import MODERN_VERSION, VERSIONS, over_http, structure_of, text_of
from tests.plain_http import ACCEPT, ENVELOPE, PREFIX, events, modern, open_session, rpc
from tests.server import Server

pytestmark = pytest.mark.anyio

ERAS = ["legacy", MODERN_VERSION]
PATIENT = 50


class Person:
    """Fills in forms with the given contents, and keeps the questions."""

    def __init__(self, *contents: dict[str, Any] | None) -> None:
        self._contents = list(contents)
        self.asked: list[str] = []

    async def answer(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.asked.append(params.message)
        content = self._contents.pop(0)
        if content is None:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept", content=content)


@asynccontextmanager
async def talking(server: Server, era: str, person: Person) -> AsyncIterator[Client]:
    transport = streamable_http_client(f"{server.url}/mcp")
    async with Client(transport, mode=era, elicitation_callback=person.answer) as client:
        yield client


@pytest.mark.parametrize("era", ERAS)
async def test_a_person_is_asked_one_question_after_the_other(server: Server, era: str) -> None:
    person = Person({"sure": True, "name": "Ann"}, {"colour": "red"})
    async with talking(server, era, person) as client:
        result = await client.call_tool("door_ask", {})

    assert person.asked == ["Are you sure?", "Which colour, Ann?"]
    assert structure_of(result)["text"] == "Ann likes red"


@pytest.mark.parametrize("era", ERAS)
async def test_a_person_may_decline(server: Server, era: str) -> None:
    async with talking(server, era, Person(None)) as client:
        result = await client.call_tool("door_ask", {})

    assert result.is_error
    assert text_of(result) == "[unauthorized] the person did not agree: Are you sure?"


async def test_a_form_that_is_filled_in_wrongly_is_asked_again(server: Server) -> None:
    person = Person({"sure": True, "name": "Ann"}, {"colour": "green"}, {"colour": "blue"})
    async with talking(server, MODERN_VERSION, person) as client:
        result = await client.call_tool("door_ask", {})

    assert structure_of(result)["text"] == "Ann likes blue"
    assert len(person.asked) == 3


async def test_a_form_that_is_filled_in_wrongly_is_refused_before(server: Server) -> None:
    async with talking(server, "legacy", Person({"sure": "perhaps"})) as client:
        result = await client.call_tool("door_ask", {})

    assert text_of(result).startswith("[validation] the reply does not match the form")


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ({"error": {"code": -32000, "message": "the window was closed"}}, "the window was closed"),
        ({"result": {"action": "maybe"}}, "its reply is malformed"),
        ({"result": {"action": "accept", "content": 5}}, "its reply is malformed"),
    ],
)
def test_a_client_that_fails_to_ask_declines(
    http: httpx2.Client, reply: dict[str, Any], why: str
) -> None:
    session = open_session(http, capabilities={"elicitation": {}})
    call = rpc("tools/call", {"name": "door_ask", "arguments": {}}, id=5)

    with http.stream("POST", "/mcp", json=call, headers=session) as stream:
        messages = events(stream)
        question = next(messages)
        answer = {"jsonrpc": "2.0", "id": question["id"], **reply}
        assert http.post("/mcp", json=answer, headers=session).status_code == 202
        result = next(messages)["result"]

    assert result["isError"]
    assert result["content"][0]["text"] == f"[unauthorized] the client does not answer: {why}"


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_client_that_cannot_ask_receives_that_error(server: Server, version: str) -> None:
    async with over_http(server, version) as session:
        answer = await outcome(session)

    assert answer == (
        CODES_OF_A_REFUSAL.get(version),
        "[validation] a person has to be asked, which your client does not offer: Are you sure?",
    )


CODES_OF_A_REFUSAL = {"2024-11-05": -32603, "2025-03-26": -32603, MODERN_VERSION: -32021}


async def outcome(session: ClientSession) -> tuple[int | None, str]:
    """The code, if it is a protocol error, and the text."""
    try:
        return None, text_of(await session.call_tool("door_ask", {}))
    except MCPError as error:
        return error.code, error.message


async def test_a_changed_request_state_is_refused(http: httpx2.Client) -> None:
    request = asking(modern("tools/call", name="door_ask"))
    reply = {"action": "accept", "content": {"sure": True, "name": "Ann"}}
    request["json"]["params"]["inputResponses"] = {"agreement": reply}
    first = http.post("/mcp", **request).json()["result"]
    request["json"]["params"]["requestState"] = first["requestState"][:-4] + "AAAA"

    refused = http.post("/mcp", **request).json()["error"]

    assert list(first["inputRequests"]) == ["colour"]
    assert (refused["code"], refused["message"]) == (-32602, "Invalid or expired requestState")


def asking(request: dict[str, Any]) -> dict[str, Any]:
    capabilities: dict[str, Any] = {"elicitation": {"form": {}}}
    meta = {**ENVELOPE, f"{PREFIX}clientCapabilities": capabilities}
    request["json"]["params"]["_meta"] = meta
    return request


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_client_receives_progress(server: Server, version: str) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None = None, message: str | None = None) -> None:
        heard.append((progress, total, message))

    async with over_http(server, version) as session:
        result = await session.call_tool("door_pause", {}, progress_callback=note)

    assert heard == [(1, 2, "half of it")]
    assert "awake" in text_of(result)


async def test_a_waiting_call_that_takes_too_long_is_ended(server: Server) -> None:
    async with over_http(server, MODERN_VERSION) as session:
        result = await session.call_tool("door_doze", {})

    assert text_of(result) == "[timeout] no answer within 0.2 s"


async def test_a_bug_of_a_waiting_operation_returns_only_a_reference(server: Server) -> None:
    async with over_http(server, MODERN_VERSION) as session:
        result = await session.call_tool("door_stumble", {})

    assert text_of(result).startswith("[internal] something went wrong on our side")


async def test_many_waiting_calls_do_not_slow_down_the_server(
    server: Server, tmp_path: Path
) -> None:
    """They wait for a run that no worker begins."""
    async with over_http(server, MODERN_VERSION) as session:
        before = await median_seconds(session)
        connections = database_connections(server)
        async with anyio.create_task_group() as calls:
            for number in range(PATIENT):
                calls.start_soon(index, server, tmp_path, number)
            await until_waiting(PATIENT)
            during = await median_seconds(session)
            held = database_connections(server) - connections
            calls.cancel_scope.cancel()
        await until_waiting(0)

    assert during < 2 * before + 0.1
    assert held <= settings.WORKERS + 1  # those that began them, and one that reads the run


async def index(server: Server, folder: Path, number: int) -> None:
    """Wait for the index of the folder on a connection of its own, as a client of its own."""
    request = modern("tools/call", name="index_repository", arguments={"path": str(folder)})
    client = {"name": f"waiting {number}", "version": "1"}
    request["json"]["params"]["_meta"] = {**ENVELOPE, f"{PREFIX}clientInfo": client}
    headers = {"Accept": ACCEPT, **request["headers"]}
    async with httpx2.AsyncClient(timeout=30) as http:
        answer = await http.post(f"{server.url}/mcp", json=request["json"], headers=headers)
    pytest.fail(f"it did not wait: {answer.text}")


async def until_waiting(count: int) -> None:
    with anyio.fail_after(20):
        while await anyio.to_thread.run_sync(requests_for_the_run) != count:
            await anyio.sleep(0.1)


def requests_for_the_run() -> int:
    try:
        return sum(Job.objects.values_list("request_count", flat=True))
    finally:
        connection.close()


async def median_seconds(session: ClientSession | Client) -> float:
    """Return how long `status` takes."""
    taken = []
    for _ in range(15):
        started = anyio.current_time()
        assert not (await session.call_tool("status", {})).is_error
        taken.append(anyio.current_time() - started)
    return statistics.median(taken)


def database_connections(server: Server) -> int:
    with psycopg.connect(server.environment["DATABASE_URL"], autocommit=True) as database:
        found = database.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        )
        return int(found.fetchall()[0][0])

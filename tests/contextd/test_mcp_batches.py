"""Several messages in one body, on sessions of 2025-03-26."""

import json
from typing import Any

import httpx2
import pytest

from tests.plain_http import initialize, rpc
from tests.server import Server

READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def open_session(http: httpx2.Client, version: str) -> dict[str, str]:
    response = http.post("/mcp", json=initialize(version))
    return {"Mcp-Session-Id": response.headers["mcp-session-id"]}


@pytest.fixture
def session(http: httpx2.Client) -> dict[str, str]:
    return open_session(http, "2025-03-26")


def answers_in(response: httpx2.Response) -> dict[Any, Any]:
    """Return the answers by the id of their request."""
    lines = [line for line in response.text.splitlines() if line.startswith("data: {")]
    answers = [json.loads(line.removeprefix("data: ")) for line in lines]
    return {answer.get("id"): answer for answer in answers}


def test_each_request_of_a_batch_is_answered(http: httpx2.Client, session: dict[str, str]) -> None:
    call = rpc("tools/call", {"name": "door_echo", "arguments": {"text": "a"}}, id="b")
    batch = [READY, rpc("ping", id=1), call, rpc("no/such", id=3)]

    response = http.post("/mcp", json=batch, headers=session)

    answers = answers_in(response)
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/event-stream"
    assert set(answers) == {1, "b", 3}
    assert answers[1]["result"] == {}
    assert '"text":"a"' in answers["b"]["result"]["content"][0]["text"]
    assert answers[3]["error"]["code"] == -32601


def test_a_batch_that_asks_nothing_is_accepted(
    http: httpx2.Client, session: dict[str, str]
) -> None:
    response = http.post("/mcp", json=[READY], headers=session)

    assert (response.status_code, response.content) == (202, b"")


def test_only_the_invalid_message_of_a_batch_is_refused(
    http: httpx2.Client, session: dict[str, str]
) -> None:
    response = http.post(
        "/mcp", json=[1, rpc("ping", id=1), initialize("2025-03-26")], headers=session
    )

    answers = answers_in(response)
    assert answers[1]["result"] == {}
    assert answers[None]["error"]["code"] == -32600


@pytest.mark.parametrize("size", [0, 101])
def test_a_batch_has_a_size(http: httpx2.Client, session: dict[str, str], size: int) -> None:
    response = http.post("/mcp", json=[rpc("ping", id=n) for n in range(size)], headers=session)

    assert (response.status_code, response.json()["error"]["code"]) == (400, -32600)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25"])
def test_other_versions_refuse_batches(http: httpx2.Client, version: str) -> None:
    session = open_session(http, version)

    response = http.post("/mcp", json=[rpc("ping")], headers=session)

    assert (response.status_code, response.json()["error"]["code"]) == (400, -32600)


def test_a_request_with_the_id_of_a_running_request_is_refused(
    server: Server, http: httpx2.Client, session: dict[str, str]
) -> None:
    call = rpc("tools/call", {"name": "door_echo", "arguments": {"text": "a"}}, id=5)
    slow = rpc("tools/call", {"name": "door_pause", "arguments": {"seconds": 0.3}}, id=5)

    answers = answers_in(http.post("/mcp", json=[slow, call], headers=session))

    assert answers[None]["error"]["message"] == "[validation] a request with the id '5' is running"
    assert "awake" in answers[5]["result"]["content"][0]["text"]
    assert http.post("/mcp", json=call, headers=session).status_code == 200

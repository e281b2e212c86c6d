"""Each operation over MCP and over REST, on a real server process."""

import json
from typing import Any

import httpx2
import pytest

from tests.clients import VERSIONS, over_http, text_of
from tests.server import Server

pytestmark = [pytest.mark.anyio, pytest.mark.django_db(transaction=True)]

ERROR = "dial tcp 127.0.0.1:8080: connect: connection refused"
SAVED = {"error_message": ERROR, "error_type": "ConnectionError", "solution": "./server"}
LIFE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("remediation_save", SAVED, {"solution": "./server", "seen_count": 1}),
    ("remediation_save", SAVED, {"seen_count": 2}),
    ("remediation_search", {"error_message": "connection refused"}, {"total": 1}),
    ("remediation_feedback", {"outcome": "worked"}, {"worked": 1, "redacted": 0}),
    ("remediation_update", {"solution": "make run"}, {"solution": "make run"}),
    ("remediation_get", {}, {"solution": "make run", "seen_count": 1, "worked": 0}),
    ("remediation_delete", {}, {}),
    ("remediation_search", {"error_message": "connection refused"}, {"total": 0}),
]


def with_id(name: str, arguments: dict[str, Any], saved: str) -> dict[str, Any]:
    takes_no_id = name in ("remediation_save", "remediation_search")
    return arguments if takes_no_id else {"id": saved, **arguments}


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_life_of_a_remediation_over_mcp(server: Server, version: str) -> None:
    saved = ""
    async with over_http(server, version) as session:
        for name, arguments, expected in LIFE:
            answer = await session.call_tool(name, with_id(name, arguments, saved))
            result = json.loads(text_of(answer))
            saved = saved or result["id"]

            assert {key: result[key] for key in expected} == expected


def test_the_life_of_a_remediation_over_rest(http: httpx2.Client) -> None:
    saved = ""
    for name, arguments, expected in LIFE:
        response = http.post(f"/api/v1/{name}", json=with_id(name, arguments, saved))
        result = response.json()
        saved = saved or result["id"]

        assert response.status_code == 200
        assert {key: result[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("name", "arguments", "status", "message"),
    [
        ("remediation_save", {}, 400, "error_message is required"),
        ("remediation_search", {"query": "x"}, 400, "unknown argument 'query'"),
        ("remediation_get", {"id": "7"}, 404, "there is no remediation with id '7'"),
        ("remediation_update", {"id": "7"}, 404, "there is no remediation with id '7'"),
        ("remediation_delete", {"id": "7"}, 404, "there is no remediation with id '7'"),
        ("remediation_feedback", {"id": "7", "outcome": "no"}, 400, "outcome must be one of"),
    ],
)
async def test_what_is_wrong_is_said_at_both_doors(
    server: Server,
    http: httpx2.Client,
    name: str,
    arguments: dict[str, Any],
    status: int,
    message: str,
) -> None:
    response = http.post(f"/api/v1/{name}", json=arguments)
    async with over_http(server, VERSIONS[-1]) as session:
        result = await session.call_tool(name, arguments)

    assert response.status_code == status
    assert message in response.json()["message"]
    assert result.is_error
    assert message in text_of(result)

"""Each operation over MCP and over REST, on a real server process."""

import json
from typing import Any

import httpx2
import pytest

from contexts.models import Context
from tests.clients import VERSIONS, over_http, text_of
from tests.server import Server
from tests.skills.conftest import skill_fields

pytestmark = [pytest.mark.anyio, pytest.mark.django_db(transaction=True)]

LIFE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("skill_create", skill_fields("Review code"), {"name": "Review code", "version": "1.0.0"}),
    ("skill_search", {"query": "review"}, {"top_k": 5}),
    ("skill_list", {}, {"total": 1}),
    ("skill_update", {"content": "Read it"}, {"version": "1.0.1", "redacted": 0}),
    ("skill_apply", {"success": True}, {"content": "Read it", "success_rate": 1.0}),
    ("skill_get", {"version": "1.0.0"}, {"version": "1.0.0", "current_version": "1.0.1"}),
    ("skill_restore", {"version": "1.0.0"}, {"version": "1.0.2"}),
    ("skill_history", {}, {"total": 3}),
    ("skill_delete", {}, {}),
    ("skill_list", {}, {"total": 0}),
]
WITHOUT_ID = ("skill_create", "skill_search", "skill_list")


def with_id(name: str, arguments: dict[str, Any], created: str) -> dict[str, Any]:
    return arguments if name in WITHOUT_ID else {"id": created, **arguments}


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_life_of_a_skill_over_mcp(server: Server, version: str) -> None:
    created = ""
    async with over_http(server, version) as session:
        for name, arguments, expected in LIFE:
            answer = await session.call_tool(name, with_id(name, arguments, created))
            result = json.loads(text_of(answer))
            created = created or result["id"]

            assert {key: result[key] for key in expected} == expected


def test_the_life_of_a_skill_over_rest(http: httpx2.Client) -> None:
    created = ""
    for name, arguments, expected in LIFE:
        response = http.post(f"/api/v1/{name}", json=with_id(name, arguments, created))
        result = response.json()
        created = created or result["id"]

        assert response.status_code == 200
        assert {key: result[key] for key in expected} == expected


def test_a_context_that_asks_for_review_holds_skills_back(http: httpx2.Client) -> None:
    Context.objects.create(name="careful", tools=["skill_*"], needs_review=True)
    careful = {"X-MCP-Context": "careful"}

    created = http.post("/api/v1/skill_create", json=skill_fields("one"), headers=careful).json()
    assert "review" in created["notice"]
    assert http.post("/api/v1/skill_list", json={}).json()["total"] == 0


@pytest.mark.parametrize(
    ("name", "arguments", "status", "message"),
    [
        ("skill_create", {"name": "x"}, 400, "description is required"),
        ("skill_search", {}, 400, "query is required"),
        ("skill_list", {"sort_by": "name"}, 400, "sort_by must be one of"),
        ("skill_get", {"id": "7"}, 404, "there is no skill with id '7'"),
        ("skill_update", {"id": "7", "version": "1"}, 400, "must be a semantic version"),
        ("skill_restore", {"id": "7"}, 400, "version is required"),
        ("skill_history", {"id": "x"}, 404, "there is no skill with id 'x'"),
        ("skill_apply", {"id": "7", "success": 3}, 400, "success must be a valid boolean"),
        ("skill_delete", {"id": "7"}, 404, "there is no skill with id '7'"),
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

"""Operations as MCP tools: listed, called, failing and cancelled, over HTTP to a real process."""

import json
import re
from typing import Any

import anyio
import httpx2
import psycopg
import pytest
from mcp import MCPError

import contextd
from tests.clients import MODERN_VERSION, VERSIONS, over_http, text_of
from tests.plain_http import modern
from tests.server import Server

pytestmark = pytest.mark.anyio

UNSTRUCTURED, STRUCTURED = VERSIONS[:2], VERSIONS[2:]
SORRY = re.compile(
    r"\[internal\] something went wrong on our side; "
    r"the log has it under reference ([0-9a-f]{12})"
)
DOOR_ECHO = {
    "name": "door_echo",
    "title": "Door echo",
    "description": "Say the text again.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "maxLength": 100, "description": "What to say"},
            "aside": {
                "anyOf": [{"type": "string", "maxLength": 100}, {"type": "null"}],
                "default": None,
                "description": "What not to say",
            },
        },
        "required": ["text"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "aside": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["text", "aside"],
    },
    "annotations": {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    },
}


@pytest.mark.parametrize("version", VERSIONS)
async def test_tools_are_listed_in_order_with_what_their_version_knows(
    server: Server, version: str
) -> None:
    async with over_http(server, version) as session:
        tools = (await session.list_tools()).tools

    names = [tool.name for tool in tools]
    assert names == sorted(names)
    assert {"checkpoint_save", "status"} <= set(names)
    assert all(tool.description for tool in tools)
    assert all((tool.output_schema is not None) == (version in STRUCTURED) for tool in tools)
    assert all((tool.title is not None) == (version in STRUCTURED) for tool in tools)


def test_a_tool_describes_its_arguments_result_and_effect(http: httpx2.Client) -> None:
    result = http.post("/mcp", **modern("tools/list")).json()["result"]

    tools = {tool["name"]: tool for tool in result["tools"]}
    assert tools["door_echo"] == DOOR_ECHO
    assert tools["checkpoint_save"]["annotations"]["readOnlyHint"] is False
    assert tools["checkpoint_delete"]["annotations"]["destructiveHint"] is True
    assert (result["ttlMs"], result["cacheScope"]) == (300_000, "private")


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_call_returns_text_and_structure_if_the_version_has_it(
    server: Server, version: str
) -> None:
    async with over_http(server, version) as session:
        await session.list_tools()
        result = await session.call_tool("door_echo", {"text": "héllo"})

    expected = {"text": "héllo", "aside": None}
    assert json.loads(text_of(result)) == expected
    assert result.structured_content == (expected if version in STRUCTURED else None)
    assert not result.is_error


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_checkpoint_is_saved_found_and_resumed(
    server: Server, version: str, transactional_db: None
) -> None:
    async with over_http(server, version) as session:

        async def answer(name: str, **arguments: object) -> Any:
            return json.loads(text_of(await session.call_tool(name, arguments)))

        saved = await answer(
            "checkpoint_save", summary="Moved logins to OAuth", project_path="/work/shop"
        )
        found = await answer("checkpoint_search", query="how do users authenticate?")
        resumed = await answer("checkpoint_resume", project_path="/work/shop/api")

    assert [match["id"] for match in found["results"]] == [saved["id"]]
    assert resumed["id"] == saved["id"]
    assert resumed["summary"] == "Moved logins to OAuth"


async def test_a_tool_answers_to_its_canonical_name(server: Server) -> None:
    async with over_http(server, MODERN_VERSION) as session:
        result = await session.call_tool("contextd:status", {})

    assert result.structured_content["version"] == contextd.__version__


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["no_such_tool", "checkpoints:status", ""])
async def test_an_unknown_tool_is_a_protocol_error(server: Server, version: str, name: str) -> None:
    async with over_http(server, version) as session:
        with pytest.raises(MCPError) as raised:
            await session.call_tool(name, {})

    assert (raised.value.code, raised.value.message) == (-32602, f"Unknown tool: {name}")


@pytest.mark.parametrize("version", STRUCTURED)
async def test_an_error_is_a_result_that_the_model_sees(server: Server, version: str) -> None:
    async with over_http(server, version) as session:
        result = await session.call_tool("door_miss", {})

    assert result.is_error
    assert text_of(result) == "[not_found] there is no such thing"
    assert result.structured_content == {
        "category": "not_found",
        "message": "there is no such thing",
        "details": {"thing": 7},
    }


@pytest.mark.parametrize("version", UNSTRUCTURED)
async def test_an_error_is_a_protocol_error_in_the_first_versions(
    server: Server, version: str
) -> None:
    async with over_http(server, version) as session:
        with pytest.raises(MCPError) as raised:
            await session.call_tool("door_miss", {})

    assert (raised.value.code, raised.value.message) == (
        -32603,
        "[not_found] there is no such thing",
    )
    assert raised.value.data == {
        "category": "not_found",
        "message": "there is no such thing",
        "details": {"thing": 7},
    }


async def test_an_unknown_argument_is_refused_by_name(server: Server) -> None:
    async with over_http(server, MODERN_VERSION) as session:
        result = await session.call_tool("door_echo", {"text": "a", "txet": "b"})

    assert text_of(result) == ("[validation] unknown argument 'txet'; door_echo takes: text, aside")


@pytest.mark.parametrize("version", VERSIONS)
async def test_too_many_calls_are_a_protocol_error_with_the_wait(
    server: Server, version: str
) -> None:
    async with over_http(server, version) as session:
        await session.call_tool("door_rare", {})
        await session.call_tool("door_rare", {})
        with pytest.raises(MCPError) as raised:
            await session.call_tool("door_rare", {})

    assert (raised.value.code, raised.value.message) == (
        -32603,
        "rate limit exceeded for tool: door_rare",
    )
    assert 0 < raised.value.data["details"]["retry_after"] <= 20


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_bug_returns_only_a_reference(server: Server, version: str) -> None:
    async with over_http(server, version) as session:
        try:
            message = text_of(await session.call_tool("door_break", {}))
        except MCPError as error:
            message = error.message

    reference = SORRY.fullmatch(message)
    assert reference is not None
    logged = server.log.read_text()
    assert reference[1] in logged
    assert "the secret of the house" in logged


async def test_a_call_that_takes_too_long_is_ended(server: Server) -> None:
    async with over_http(server, MODERN_VERSION) as session:
        result = await session.call_tool("door_hurry", {"seconds": 15})

    assert text_of(result) == "[timeout] no answer within 1 s"


async def test_a_call_that_the_client_abandons_frees_the_database(server: Server) -> None:
    async with over_http(server, MODERN_VERSION) as session, anyio.create_task_group() as calls:
        calls.start_soon(session.call_tool, "door_wait", {"seconds": 19})
        await until_sleepers(server, 1)
        calls.cancel_scope.cancel()

    await until_sleepers(server, 0)


async def test_a_call_that_a_session_cancels_frees_the_database(server: Server) -> None:
    async with over_http(server, "2025-11-25") as session:
        async with anyio.create_task_group() as calls:
            calls.start_soon(session.call_tool, "door_wait", {"seconds": 19})
            await until_sleepers(server, 1)
            calls.cancel_scope.cancel()
        await until_sleepers(server, 0)
        result = await session.call_tool("door_echo", {"text": "still here"})

    assert not result.is_error


async def until_sleepers(server: Server, count: int) -> None:
    """Until that many queries sleep in the database; well before one would wake by itself."""
    with psycopg.connect(server.environment["DATABASE_URL"], autocommit=True) as database:
        with anyio.fail_after(10):
            while sleepers(database) != count:
                await anyio.sleep(0.02)


def sleepers(database: psycopg.Connection) -> int:
    found = database.execute(
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE state = 'active' AND query LIKE 'SELECT pg_sleep%' AND pid <> pg_backend_pid()"
    )
    return int(found.fetchall()[0][0])

"""The MCP door over HTTP: a real server process, the SDK's own client and plain HTTP."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import httpx2
import psycopg
import pytest
from django.contrib.auth.models import User
from mcp import MCPError

import contextd
from contextd.mcp.server import INSTRUCTIONS
from contexts import services as tokens
from tests.clients import MODERN_VERSION, VERSIONS, over_http, text_of
from tests.server import Server

pytestmark = pytest.mark.anyio

UNSTRUCTURED, STRUCTURED = VERSIONS[:2], VERSIONS[2:]
ACCEPT = "application/json, text/event-stream"
SORRY = re.compile(
    r"\[internal\] something went wrong on our side; "
    r"the log has it under reference ([0-9a-f]{12})"
)
PREFIX = "io.modelcontextprotocol/"
ENVELOPE = {f"{PREFIX}protocolVersion": MODERN_VERSION, f"{PREFIX}clientCapabilities": {}}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def http(server: Server) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url, headers={"Accept": ACCEPT}, timeout=30) as client:
        yield client


@pytest.fixture
def token_of(transactional_db: None) -> Callable[[str], dict[str, str]]:
    """The headers of a new user of that name."""

    def headers(name: str) -> dict[str, str]:
        _, secret = tokens.create_token(User.objects.create_user(name), name="test")
        return {"Authorization": f"Bearer {secret}"}

    return headers


def rpc(method: str, params: Any = None, id: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}


def initialize(version: str) -> dict[str, Any]:
    client = {"name": "plain", "version": "1"}
    return rpc("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client})


def modern(method: str, **params: Any) -> dict[str, Any]:
    """The arguments of a post, as 2026-07-28 has them."""
    headers = {"MCP-Protocol-Version": MODERN_VERSION, "Mcp-Method": method}
    if "name" in params:
        headers["Mcp-Name"] = params["name"]
    return {"json": rpc(method, {**params, "_meta": ENVELOPE}), "headers": headers}


def open_session(http: httpx2.Client, headers: dict[str, str] | None = None) -> dict[str, str]:
    """The headers that belong to a new session of 2025-11-25."""
    headers = headers or {}
    response = http.post("/mcp", json=initialize("2025-11-25"), headers=headers)
    session = {"Mcp-Session-Id": response.headers["mcp-session-id"], **headers}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert http.post("/mcp", json=ready, headers=session).status_code == 202
    return session


def answer_of(response: httpx2.Response) -> Any:
    """The JSON-RPC message in a plain or streamed answer."""
    if response.headers["content-type"] == "application/json":
        return response.json()
    (line,) = [line for line in response.text.splitlines() if line.startswith("data: {")]
    return json.loads(line.removeprefix("data: "))


# The handshake


@pytest.mark.parametrize("version", VERSIONS)
async def test_each_protocol_version_is_spoken(server: Server, version: str) -> None:
    async with over_http(server, version) as session:
        info = session.server_info
        spoken = session.protocol_version
        instructions = session.instructions

    assert spoken == version
    assert info is not None
    assert (info.name, info.version) == ("contextd", contextd.__version__)
    assert instructions == INSTRUCTIONS


@pytest.mark.parametrize("version", ["2099-01-01", MODERN_VERSION, "soon"])
def test_an_unknown_version_is_offered_the_latest_with_a_handshake(
    http: httpx2.Client, version: str
) -> None:
    answer = answer_of(http.post("/mcp", json=initialize(version)))

    assert answer["result"]["protocolVersion"] == "2025-11-25"


def test_an_unknown_version_without_a_handshake_is_told_which_there_are(
    http: httpx2.Client,
) -> None:
    request = modern("server/discover")
    request["headers"]["MCP-Protocol-Version"] = "2099-01-01"
    request["json"]["params"]["_meta"] = {**ENVELOPE, f"{PREFIX}protocolVersion": "2099-01-01"}

    response = http.post("/mcp", **request)

    assert response.status_code == 400
    assert response.json()["error"]["data"]["supported"] == [MODERN_VERSION]


def test_the_instructions_name_only_tools_that_exist(http: httpx2.Client) -> None:
    listed = http.post("/mcp", **modern("tools/list")).json()["result"]["tools"]
    named = set(re.findall(r"\b[a-z]+_[a-z_]+\b", INSTRUCTIONS))

    assert named
    assert named <= {tool["name"] for tool in listed}


# The list of tools


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


def test_a_tool_says_what_it_takes_gives_and_does(http: httpx2.Client) -> None:
    result = http.post("/mcp", **modern("tools/list")).json()["result"]

    tools = {tool["name"]: tool for tool in result["tools"]}
    assert tools["door_echo"] == {
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
    assert tools["checkpoint_save"]["annotations"]["readOnlyHint"] is False
    assert tools["checkpoint_delete"]["annotations"]["destructiveHint"] is True
    assert (result["ttlMs"], result["cacheScope"]) == (300_000, "private")


# Calls


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_call_answers_with_text_and_where_known_with_structure(
    server: Server, version: str
) -> None:
    async with over_http(server, version) as session:
        await session.list_tools()
        result = await session.call_tool("door_echo", {"text": "héllo"})

    said = {"text": "héllo", "aside": None}
    assert json.loads(text_of(result)) == said
    assert result.structured_content == (said if version in STRUCTURED else None)
    assert not result.is_error


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


# Errors


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


async def test_an_argument_that_is_not_taken_is_refused_by_name(server: Server) -> None:
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
    assert 0 < raised.value.data["details"]["retry_after"] <= 1


@pytest.mark.parametrize("version", VERSIONS)
async def test_nothing_of_a_bug_is_told_but_where_to_look(server: Server, version: str) -> None:
    async with over_http(server, version) as session:
        try:
            told = text_of(await session.call_tool("door_break", {}))
        except MCPError as error:
            told = error.message

    reference = SORRY.fullmatch(told)
    assert reference is not None
    logged = server.log.read_text()
    assert reference[1] in logged
    assert "the secret of the house" in logged


async def test_a_call_that_takes_too_long_is_ended(server: Server) -> None:
    async with over_http(server, MODERN_VERSION) as session:
        result = await session.call_tool("door_hurry", {"seconds": 15})

    assert text_of(result) == "[timeout] no answer within 1 s"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000 + b"]" * 100_000, -32700),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "secret"}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600),
        (b'"secret"', -32600),
    ],
)
def test_what_is_no_message_is_refused_without_a_parsers_words(
    http: httpx2.Client, body: bytes, code: int
) -> None:
    response = http.post("/mcp", content=body, headers={"Content-Type": "application/json"})

    assert response.status_code == 400
    assert response.json()["id"] is None
    assert response.json()["error"]["code"] == code
    assert "secret" not in response.text
    assert "pydantic" not in response.text


# Cancellation


async def test_a_call_that_the_client_gives_up_frees_the_database(server: Server) -> None:
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


# Who calls


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_caller_is_anonymous_on_this_machine(server: Server, version: str) -> None:
    async with over_http(server, version) as session:
        caller = json.loads(text_of(await session.call_tool("door_whoami", {})))

    assert caller["principal"] == "anonymous"
    assert caller["client"] == "tester/1.2"
    assert caller["context"] == "default"
    assert caller["is_local"] is True
    assert caller["session"] == caller["connection"]


def test_the_connection_is_the_session_where_there_is_one(http: httpx2.Client) -> None:
    session = open_session(http)

    call = rpc("tools/call", {"name": "door_whoami"})
    caller = answer_of(http.post("/mcp", json=call, headers=session))["result"]

    assert caller["structuredContent"]["connection"] == session["Mcp-Session-Id"]


def test_without_sessions_no_header_makes_a_new_connection(http: httpx2.Client) -> None:
    request = modern("tools/call", name="door_whoami")
    request["headers"]["Mcp-Session-Id"] = "invented"

    caller = http.post("/mcp", **request).json()["result"]["structuredContent"]

    assert caller["connection"] == "anonymous/-/default"


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_token_names_its_user(server: Server, version: str, ann: dict[str, str]) -> None:
    async with over_http(server, version, ann) as session:
        caller = json.loads(text_of(await session.call_tool("door_whoami", {})))

    assert re.fullmatch(r"user:\d+", caller["principal"])
    assert caller["is_local"] is False


@pytest.fixture
def ann(token_of: Callable[[str], dict[str, str]]) -> dict[str, str]:
    return token_of("ann")


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic YTpi"},
        {"X-Forwarded-For": "127.0.0.1"},
        {"Via": "1.1 proxy"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_who_is_not_known_is_told_how_to_get_a_token(
    http: httpx2.Client, method: str, headers: dict[str, str]
) -> None:
    body = initialize("2025-11-25") if method == "POST" else None

    response = http.request(method, "/mcp", json=body, headers=headers)

    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert response.json()["error"]["data"]["category"] == "unauthorized"
    assert "manage.py token create" in response.json()["error"]["message"]


def test_a_token_works_behind_a_proxy(http: httpx2.Client, ann: dict[str, str]) -> None:
    headers = {**ann, "X-Forwarded-For": "192.0.2.7"}

    response = http.post("/mcp", json=initialize("2025-11-25"), headers=headers)

    assert response.status_code == 200


def test_a_session_is_of_use_only_to_who_opened_it(
    http: httpx2.Client, token_of: Callable[[str], dict[str, str]]
) -> None:
    session = open_session(http, token_of("ann"))
    ping = rpc("ping")

    stolen = http.post("/mcp", json=ping, headers={**session, **token_of("bob")})
    anonymous = {"Mcp-Session-Id": session["Mcp-Session-Id"]}

    assert stolen.status_code == 404
    assert http.post("/mcp", json=ping, headers=anonymous).status_code == 404
    assert http.post("/mcp", json=ping, headers=session).status_code == 200


def test_another_context_is_not_found(http: httpx2.Client) -> None:
    response = http.post(
        "/mcp", json=initialize("2025-11-25"), headers={"X-MCP-Context": "secret-team"}
    )

    assert response.status_code == 404
    assert "secret-team" in response.json()["error"]["message"]


# The transport


def test_a_session_has_a_stream_and_an_end(http: httpx2.Client) -> None:
    session = open_session(http)

    with http.stream("GET", "/mcp", headers=session) as stream:
        assert stream.status_code == 200
        assert stream.headers["content-type"].startswith("text/event-stream")
    assert http.delete("/mcp", headers=session).status_code == 200
    assert http.post("/mcp", json=rpc("ping"), headers=session).status_code == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.com"}, 421),
        ({"Origin": "https://evil.com"}, 403),
    ],
)
def test_the_gate_stands_before_it(
    http: httpx2.Client, headers: dict[str, str], status: int
) -> None:
    response = http.post("/mcp", json=rpc("ping"), headers=headers)

    assert response.status_code == status
    assert response.json()["jsonrpc"] == "2.0"


@pytest.mark.parametrize("path", ["/mcp", "/api/v1/status"])
def test_a_body_over_ten_megabytes_is_refused(http: httpx2.Client, path: str) -> None:
    body = b"[" + b" " * 10 * 1024 * 1024

    response = http.post(path, content=body, headers={"Content-Type": "application/json"})

    assert response.status_code == 413


def test_the_gate_stands_before_django(http: httpx2.Client) -> None:
    response = http.get("/healthz", headers={"Host": "evil.com"})

    assert response.status_code == 421
    assert "CONTEXTD_ALLOWED_HOSTS" in response.json()["message"]


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

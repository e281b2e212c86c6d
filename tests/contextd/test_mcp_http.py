"""The MCP door over HTTP: a real server process, the SDK's own client and plain HTTP."""

import json
import re
import socket
from collections.abc import Callable
from functools import partial
from urllib.parse import urlsplit

import httpx2
import pytest
from django.contrib.auth.models import User

import contextd
from contextd.mcp.server import DESCRIPTION, INSTRUCTIONS
from contexts import tokens
from tests.clients import MODERN_VERSION, VERSIONS, over_http, text_of
from tests.plain_http import ENVELOPE, PREFIX, answer_of, initialize, modern, open_session, rpc
from tests.server import Server

pytestmark = pytest.mark.anyio


@pytest.fixture
def token_of(transactional_db: None) -> Callable[[str], dict[str, str]]:
    """The headers of a new user of that name."""

    def headers(name: str) -> dict[str, str]:
        _, secret = tokens.create(User.objects.create_user(name), name="test")
        return {"Authorization": f"Bearer {secret}"}

    return headers


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


def test_an_unknown_version_without_a_handshake_lists_the_known_ones(
    http: httpx2.Client,
) -> None:
    request = modern("server/discover")
    request["headers"]["MCP-Protocol-Version"] = "2099-01-01"
    request["json"]["params"]["_meta"] = {**ENVELOPE, f"{PREFIX}protocolVersion": "2099-01-01"}

    response = http.post("/mcp", **request)

    assert response.status_code == 400
    assert response.json()["error"]["data"]["supported"] == [MODERN_VERSION]


def test_the_instructions_name_only_tools_and_arguments_that_exist(http: httpx2.Client) -> None:
    listed = http.post("/mcp", **modern("tools/list")).json()["result"]["tools"]
    named = set(re.findall(r"\b[a-z]+_[a-z_]+\b", INSTRUCTIONS))

    tools = {tool["name"] for tool in listed}
    arguments = {name for tool in listed for name in tool["inputSchema"]["properties"]}
    assert "checkpoint_resume" in named
    assert named <= tools | arguments


def test_the_instructions_ask_for_the_git_remote_that_every_tool_with_a_path_takes(
    http: httpx2.Client,
) -> None:
    listed = http.post("/mcp", **modern("tools/list")).json()["result"]["tools"]
    arguments = {tool["name"]: set(tool["inputSchema"]["properties"]) for tool in listed}
    of_a_project = [name for name, given in arguments.items() if "project_path" in given]

    assert "git remote get-url origin" in INSTRUCTIONS
    assert "context.git_remote" in INSTRUCTIONS
    assert [name for name in of_a_project if not arguments[name] & {"git_remote", "context"}] == [
        "analytics_get"
    ]


def test_the_server_describes_itself(http: httpx2.Client) -> None:
    result = answer_of(http.post("/mcp", json=initialize("2025-11-25")))["result"]

    assert result["serverInfo"]["description"] == DESCRIPTION
    assert result["serverInfo"]["icons"][0]["mimeType"] == "image/svg+xml"
    assert result["instructions"] == INSTRUCTIONS


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_caller_is_anonymous_on_this_machine(server: Server, version: str) -> None:
    async with over_http(server, version) as session:
        caller = json.loads(text_of(await session.call_tool("door_whoami", {})))

    assert caller["principal"] == "anonymous"
    assert caller["client"] == "tester/1.2"
    assert caller["context"] == "default"
    assert caller["is_local"] is True
    assert caller["is_from_this_machine"] is True


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
    assert caller["is_from_this_machine"] is True


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
def test_an_unknown_caller_learns_how_to_get_a_token(
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


def test_a_session_can_be_used_only_by_its_owner(
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
def test_an_invalid_message_is_refused_without_parser_text(
    http: httpx2.Client, body: bytes, code: int
) -> None:
    response = http.post("/mcp", content=body, headers={"Content-Type": "application/json"})

    assert response.status_code == 400
    assert response.json()["id"] is None
    assert response.json()["error"]["code"] == code
    assert "secret" not in response.text
    assert "pydantic" not in response.text


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


@pytest.mark.parametrize("path", ["/mcp", "/api/v1/status"])
def test_a_body_that_does_not_arrive_in_time_is_refused(server: Server, path: str) -> None:
    address = urlsplit(server.url)
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\nContent-Length: 100\r\n\r\n"
    )
    with socket.create_connection((address.hostname or "", address.port or 0), 20) as slow:
        slow.sendall(head.encode() + b'{"jsonrpc"')
        answer = b"".join(iter(partial(slow.recv, 4096), b""))

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"the body did not arrive within 5 s" in answer


@pytest.mark.parametrize("method", ["PUT", "PATCH", "HEAD", "OPTIONS", "TRACE"])
def test_other_methods_are_refused_with_those_there_are(http: httpx2.Client, method: str) -> None:
    answer = http.request(method, "/mcp")

    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST, GET, DELETE"


def test_a_nul_in_the_address_of_a_subscription_is_refused(http: httpx2.Client) -> None:
    request = rpc("resources/unsubscribe", {"uri": "a\0b"})

    answer = answer_of(http.post("/mcp", json=request, headers=open_session(http)))

    assert "must not contain a NUL character" in answer["error"]["message"]

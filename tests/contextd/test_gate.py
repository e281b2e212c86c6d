"""What every HTTP request must pass."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from pytest_django.fixtures import Settings
from starlette.types import Message, Receive, Scope, Send

from contextd import cors, gate

pytestmark = pytest.mark.anyio

LIMIT = 1000


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Says how much it was sent."""
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


@pytest.fixture
def gated(settings: Settings) -> httpx2.AsyncClient:
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", ".example.com"]
    settings.ALLOWED_ORIGINS = ["https://pages.example.org"]
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = LIMIT
    return httpx2.AsyncClient(
        transport=httpx2.ASGITransport(gate.Gate(application)), base_url="http://localhost:8080"
    )


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "[::1]:8080", "127.0.0.1:8080", "team.example.com"]
)
async def test_the_names_of_this_server_pass(gated: httpx2.AsyncClient, host: str) -> None:
    assert (await gated.get("/", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.com", "localhost.evil.com", "127.0.0.1:8080.evil.com", "localhost:x", "", "a b"]
)
async def test_an_unknown_host_name_names_the_setting(gated: httpx2.AsyncClient, host: str) -> None:
    response = await gated.get("/", headers={"Host": host})

    assert response.status_code == 421
    assert "CONTEXTD_ALLOWED_HOSTS" in response.json()["message"]


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/api/v1/status"])
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 200),
        ("http://localhost:8080", 200),
        ("https://localhost:8080", 200),
        ("https://pages.example.org", 200),
        ("http://localhost:9999", 403),
        ("http://localhost", 403),
        ("https://evil.com", 403),
        ("http://localhost:8080.evil.com", 403),
        ("http://[", 403),
        ("ftp://localhost:8080", 403),
        ("null", 403),
    ],
)
async def test_pages_of_other_sites_may_not_call(
    gated: httpx2.AsyncClient, path: str, method: str, origin: str | None, status: int
) -> None:
    headers = {"Origin": origin} if origin else {}

    assert (await gated.request(method, path, headers=headers)).status_code == status


@pytest.mark.parametrize("path", ["/mcp", "/api/v1/status"])
async def test_pages_of_an_allowed_origin_read_the_answers(settings: Settings, path: str) -> None:
    settings.ALLOWED_ORIGINS = ["https://pages.example.org"]
    browser = httpx2.AsyncClient(
        transport=httpx2.ASGITransport(cors.Cors(gate.Gate(application))),
        base_url="http://localhost:8080",
        headers={"Origin": "https://pages.example.org"},
    )
    asking = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,mcp-protocol-version",
    }

    allowed = await browser.options(path, headers=asking)
    refused = await browser.options(path, headers={**asking, "Origin": "https://evil.com"})
    answer = await browser.post(path)
    too_large = await browser.post(path, headers={"Content-Length": "99999999"})
    own = await browser.post(path, headers={"Origin": "http://localhost:8080"})
    page = await browser.get("/admin/")

    assert allowed.status_code == 200
    assert "POST" in allowed.headers["Access-Control-Allow-Methods"]
    assert "mcp-protocol-version" in allowed.headers["Access-Control-Allow-Headers"]
    assert (refused.status_code, own.status_code, page.status_code) == (400, 200, 200)
    assert too_large.status_code == 413
    for readable in (answer, too_large):
        assert readable.headers["Access-Control-Allow-Origin"] == "https://pages.example.org"
    assert "Mcp-Session-Id" in answer.headers["Access-Control-Expose-Headers"]
    assert "Origin" in answer.headers["Vary"]
    for other in (refused, own, page):
        assert "Access-Control-Allow-Origin" not in other.headers


@pytest.mark.parametrize(("method", "status"), [("GET", 200), ("HEAD", 200), ("POST", 403)])
async def test_pages_for_people_can_be_linked_from_other_sites(
    gated: httpx2.AsyncClient, method: str, status: int
) -> None:
    response = await gated.request(method, "/admin/", headers={"Origin": "https://evil.com"})

    assert response.status_code == status


@pytest.mark.parametrize(
    "name",
    [
        *("Host", "Origin", "Authorization", "X-MCP-Context", "Mcp-Session-Id"),
        *("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"),
    ],
)
async def test_a_header_that_identifies_the_caller_is_sent_once(
    gated: httpx2.AsyncClient, name: str
) -> None:
    value = "http://localhost:8080" if name == "Origin" else "localhost"

    response = await gated.post(
        "/mcp", headers=[("Host", "localhost:8080"), (name, value), (name, value)]
    )

    assert response.status_code == 400
    assert name.lower() in response.json()["error"]["message"]


@pytest.mark.parametrize("path", ["/mcp", "/api/v1/status"])
async def test_an_empty_name_of_a_context_is_refused(gated: httpx2.AsyncClient, path: str) -> None:
    response = await gated.post(path, headers={"X-MCP-Context": " "})

    assert response.status_code == 400
    assert "name a context, or omit the header" in response.text


@pytest.mark.parametrize(("size", "status"), [(LIMIT, 200), (LIMIT + 1, 413)])
async def test_a_body_above_the_maximum_size_is_refused(
    gated: httpx2.AsyncClient, size: int, status: int
) -> None:
    assert (await gated.post("/api/x", content=b"x" * size)).status_code == status


@pytest.mark.parametrize(("size", "status"), [(LIMIT, 200), (LIMIT + 1, 413)])
async def test_a_body_of_undeclared_size_is_counted(
    gated: httpx2.AsyncClient, size: int, status: int
) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"x" * (size - 10)
        yield b"x" * 10

    assert (await gated.post("/api/x", content=pieces())).status_code == status


@pytest.mark.parametrize(("path", "status"), [("/admin/a/b/import/", 200), ("/admin/a/b/", 413)])
async def test_forms_of_imports_get_larger_files_to_explain_their_limit(
    gated: httpx2.AsyncClient, path: str, status: int
) -> None:
    assert (await gated.post(path, content=b"x" * (LIMIT + 1))).status_code == status


async def test_refusals_are_json_rpc_for_mcp_and_plain_json_elsewhere(
    gated: httpx2.AsyncClient,
) -> None:
    elsewhere = await gated.get("/api/v1/status", headers={"Host": "evil.com"})
    mcp = await gated.get("/mcp", headers={"Host": "evil.com"})

    assert set(elsewhere.json()) == {"category", "message", "details"}
    assert mcp.json() == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {
            "code": -32600,
            "message": f"[validation] {elsewhere.json()['message']}",
            "data": elsewhere.json(),
        },
    }


async def test_white_space_around_a_value_is_not_part_of_it(settings: Settings) -> None:
    seen: list[Any] = []

    async def notice(scope: Scope, receive: Receive, send: Send) -> None:
        seen.extend(scope["headers"])

    headers = [(b"host", b"localhost \t"), (b"mcp-name", b"status ")]
    await gate.Gate(notice)(request("/mcp", headers), nothing, ignore)

    assert seen == [(b"host", b"localhost"), (b"mcp-name", b"status")]


async def test_an_answer_that_has_begun_is_not_answered_again(settings: Settings) -> None:
    async def answer_early(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await receive()

    async def too_much() -> Message:
        return {"type": "http.request", "body": b"x" * (LIMIT + 1)}

    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = LIMIT
    with pytest.raises(gate.BodyTooLarge):
        await gate.Gate(answer_early)(request("/x", [(b"host", b"localhost")]), too_much, ignore)


async def test_web_sockets_are_not_served() -> None:
    sent: list[Message] = []

    async def note(message: Message) -> None:
        sent.append(message)

    await gate.Gate(application)({"type": "websocket", "path": "/mcp"}, nothing, note)

    assert sent == [{"type": "websocket.close"}]


async def test_refusals_are_marked_as_json(gated: httpx2.AsyncClient) -> None:
    response = await gated.get("/", headers={"Host": "evil.com"})

    assert response.headers["content-type"] == "application/json"
    assert json.loads(response.content)["category"] == "validation"


def request(path: str, headers: list[tuple[bytes, bytes]]) -> Scope:
    return {"type": "http", "method": "POST", "path": path, "headers": headers}


async def nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def ignore(message: Message) -> None:
    return None


async def test_a_bug_is_not_taken_for_the_end_of_the_server() -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise RuntimeError("a bug")

    transport = httpx2.ASGITransport(gate.Gate(broken), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost:8080") as http:
        response = await http.get("/")

    assert response.status_code == 500  # the server's own answer
    assert gate.STOPPING not in response.text

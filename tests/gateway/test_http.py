"""Upstreams over Streamable HTTP, and the addresses they may have."""

import asyncio
import ipaddress
import re
import threading
from collections.abc import Iterator

import httpx2
import pytest
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from starlette.applications import Starlette
from starlette.responses import RedirectResponse
from starlette.routing import Mount, Route

from contextd.errors import UpstreamFailed
from gateway import policy
from gateway.models import State, Transport
from gateway.supervision import http
from gateway.supervision.processes import Tail
from tests.conftest import Call
from tests.gateway.conftest import Add, wait_for_state
from tests.server import free_port
from tests.waiting import wait_for


class Listening:
    """A web server in a thread, with the SDK's own MCP server at /mcp."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._server = uvicorn.Server(
            uvicorn.Config(application(), port=port, log_level="critical", lifespan="on")
        )
        self._server.config.timeout_graceful_shutdown = 1
        self._thread = threading.Thread(target=self._server.run)

    def start(self) -> None:
        self._thread.start()
        wait_for(lambda: self._server.started)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()


def application() -> Starlette:
    server = MCPServer("over http")

    @server.tool()
    def header(header: str, context: Context) -> str:
        """A header of the request."""
        return str((context.headers or {}).get(header))

    mcp = server.streamable_http_app()
    elsewhere = RedirectResponse("http://169.254.169.254/mcp", status_code=307)
    routes = [Route("/moved", lambda request: elsewhere, methods=["POST"]), Mount("/", mcp)]
    return Starlette(routes=routes, lifespan=mcp.router.lifespan_context)


@pytest.fixture
def listening(settings: object) -> Iterator[Listening]:
    settings.CONTEXTD_GATEWAY_PRIVATE_HOSTS = ["localhost"]  # type: ignore[attr-defined]
    server = Listening(free_port())
    server.start()
    yield server
    server.stop()


def url(listening: Listening, path: str = "/mcp", host: str = "localhost") -> str:
    return f"http://{host}:{listening.port}{path}"


def test_a_tool_is_called_with_the_headers_that_were_given(
    listening: Listening, add: Add, call: Call
) -> None:
    add(transport=Transport.HTTP, url=url(listening), settings={"X-Key": "theirs"})

    assert call("odd:header", header="x-key").structured == {"result": "theirs"}
    assert call("odd:header", header="authorization").structured == {"result": "None"}


def test_it_is_reached_again_after_a_restart_of_the_server(
    listening: Listening, add: Add, call: Call
) -> None:
    upstream = add(
        transport=Transport.HTTP,
        url=url(listening),
        heartbeat_interval_ms=200,
        restart_attempts=50,
    )
    listening.stop()
    wait_for_state(upstream, State.BACKOFF)

    again = Listening(listening.port)
    again.start()
    try:
        wait_for_state(upstream, State.READY)
        assert call("odd:header", header="host").content
    finally:
        again.stop()


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("https://localhost:9/mcp", "localhost is at .* not a public address"),
        ("http://example.com/mcp", "over https only"),
        ("https://example.com:99999/mcp", "Port out of range"),
    ],
)
def test_an_address_that_is_not_allowed_is_not_tried_again(
    add: Add, address: str, told: str
) -> None:
    upstream = add(transport=Transport.HTTP, url=address, expect=State.FAILED)

    assert re.search(told, upstream.reason)
    assert not upstream.events.filter(state=State.BACKOFF).exists()


def test_a_redirect_to_somewhere_else_is_not_followed(listening: Listening, add: Add) -> None:
    upstream = add(
        transport=Transport.HTTP,
        url=url(listening, "/moved"),
        expect=State.FAILED,
        restart_attempts=0,
    )

    assert "not followed" in upstream.reason


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.1.2.3",
        "224.0.0.1", "::1", "fe80::1", "fd00::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1",
        "2002:7f00:1::", "::", "fec0::1", "64:ff9b:1::7f00:1", "::7f00:1", "::ffff:0:7f00:1",
        "ff02::1", "5f00::1",
    ],
)  # fmt: skip
def test_what_is_not_public(address: str) -> None:
    assert not policy.is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700::1111", "64:ff9b::101:101"])
def test_what_is_public(address: str) -> None:
    assert policy.is_public(ipaddress.ip_address(address))


def test_a_call_while_it_is_away_says_when_it_is_tried_again(
    listening: Listening, add: Add, call: Call
) -> None:
    upstream = add(
        transport=Transport.HTTP,
        url=url(listening),
        heartbeat_interval_ms=200,
        restart_backoff_ms=30_000,
    )
    listening.stop()
    wait_for_state(upstream, State.BACKOFF)

    with pytest.raises(
        UpstreamFailed,
        match=r"odd is backoff, so nothing was sent: .*\nnext try at \d\d:\d\d:\d\d UTC",
    ):
        call("odd:header", header="host")


def test_a_header_that_can_be_none_is_named_and_not_told(listening: Listening, add: Add) -> None:
    upstream = add(
        transport=Transport.HTTP,
        url=url(listening),
        settings={"Authorization": "Bearer SECRET-TOKEN\nand more"},
        expect=State.FAILED,
    )

    assert "the header Authorization is not one line of ASCII" in upstream.reason
    assert "SECRET" not in upstream.reason


def test_each_address_of_a_host_is_tried(
    listening: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.2", "127.0.0.1"]  # the server listens at the second one only

    monkeypatch.setattr(policy, "resolve", resolve)

    async def connect() -> None:
        network = http.GuardedNetwork(Tail())
        stream = await network.connect_tcp("localhost", listening.port, timeout=5)
        await stream.aclose()

    asyncio.run(connect())


@pytest.mark.parametrize(
    ("method", "body", "expected"),
    [
        ("POST", {"jsonrpc": "2.0", "id": 1, "method": "ping"}, True),
        ("POST", {"jsonrpc": "2.0", "method": "notifications/initialized"}, False),
        ("POST", {"jsonrpc": "2.0", "id": 1, "result": {}}, False),
        ("GET", None, True),
        ("DELETE", None, False),
    ],
)
def test_what_an_answer_is_waited_for(method: str, body: object, expected: bool) -> None:
    request = httpx2.Request(method, "http://localhost/mcp", json=body)

    assert http.is_waited_for(request) is expected

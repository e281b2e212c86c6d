"""The members of the SDK that it does not publish are where `contextd.mcp.sdk` uses them."""

from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest
from mcp import ClientSession
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.session import ServerSession
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.shared.dispatcher import CallOptions
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCNotification
from starlette.responses import Response

from contextd.mcp import sdk

pytestmark = pytest.mark.anyio

MESSAGE = SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="notifications/a"))


class Named(sdk.Dispatcher):
    def next_id(self) -> str:
        return "ours-1"


class Serving(sdk.SessionManager):
    def __init__(self) -> None:
        super().__init__(Server("test"))
        self.served: list[Any] = []

    async def serve(self, scope: Any, receive: Any, send: Any) -> None:
        self.served.append(scope)


async def nothing_more() -> Any:
    return {"type": "http.request", "body": b"", "more_body": False}


async def ignore(message: Any) -> None:
    """Send it nowhere."""


def dispatcher() -> Named:
    send, receive = anyio.create_memory_object_stream[Any](1)
    return Named(receive, send)


async def test_a_transport_shows_its_streams_and_takes_messages_at_both_ends() -> None:
    transport = StreamableHTTPServerTransport("one")
    assert not sdk.has_requests_in_flight(transport)
    assert not sdk.has_stream(transport)

    async with transport.connect() as (incoming, _outgoing):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(sdk.receive_as_client, transport, MESSAGE)
            received = await incoming.receive()
        with anyio.fail_after(5):
            await sdk.send_to_client(transport, MESSAGE)

    assert received is MESSAGE


async def test_a_manager_forwards_requests_of_sessions() -> None:
    manager = Serving()
    assert manager.lifespan_state is None

    scope = {"type": "http", "method": "GET", "headers": []}
    with anyio.fail_after(10):
        async with manager.run():
            await manager.handle_request(scope, nothing_more, ignore)

    assert len(manager.served) == 1


async def test_the_status_of_an_answer_is_reported() -> None:
    scope = {"type": "http", "method": "GET"}

    assert await sdk.status_sent(Response(status_code=418), scope, nothing_more, ignore) == 418


async def test_a_dispatcher_names_its_requests_and_knows_those_of_the_peer() -> None:
    named = dispatcher()

    assert named._allocate_id() == "ours-1"
    assert not named.is_running(1)


async def test_requests_of_one_client_share_a_connection() -> None:
    connection = Connection.for_loop(dispatcher(), session_id="one")
    session = ServerSession(cast(Any, None), connection)

    assert sdk.connection_of(cast(Any, SimpleNamespace(session=session))) is connection


async def test_a_request_is_stamped_and_a_stamped_one_is_recognised() -> None:
    session = ClientSession(dispatcher=dispatcher())
    request: dict[str, Any] = {"method": "a", "params": {}}

    sdk.stamp(session, request, CallOptions())

    assert not sdk.has_modern_envelope(request["params"])
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    assert sdk.has_modern_envelope({"_meta": meta})
    assert callable(sdk.negotiate_auto)

"""Messages that are too long, one of which never hurts another."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from gateway import wire
from gateway.wire import Incoming, Outgoing, Peer

Use = Callable[[Incoming, Outgoing], Awaitable[Any]]


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a peer is told, where a message may have 1000 bytes."""
    monkeypatch.setattr(wire, "LONGEST_OF_OURS", 1000)
    return []


def with_peer(written: list[Any], use: Use) -> Any:
    async def read() -> bytes:
        await asyncio.Event().wait()
        return b""

    async def write(line: bytes) -> None:
        written.extend(json.loads(part) for part in line.splitlines())

    async def run() -> Any:
        async with wire.connected(Peer(read, write)) as (incoming, outgoing):
            return await use(incoming, outgoing)

    return asyncio.run(run())


def test_a_request_that_is_too_long_is_refused_alone(written: list[Any]) -> None:
    async def use(incoming: Incoming, outgoing: Outgoing) -> Any:
        large = JSONRPCRequest(jsonrpc="2.0", id=1, method="a", params={"a": "x" * 2000})
        await outgoing.send(SessionMessage(large))
        refused = await incoming.receive()
        await outgoing.send(SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=2, method="b")))
        await outgoing.send(SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=3, method="c")))
        return refused.message  # type: ignore[union-attr]

    refused = with_peer(written, use)

    assert isinstance(refused, JSONRPCError)
    assert refused.id == 1
    assert refused.error.data == {"category": "validation"}
    assert "are more than the 1000" in refused.error.message
    assert written[0]["id"] == 2


def test_an_answer_that_is_too_long_becomes_an_error(written: list[Any]) -> None:
    async def use(incoming: Incoming, outgoing: Outgoing) -> None:
        for request_id in (1, 2, 3):
            result = {"a": "x" * 2000 if request_id == 1 else ""}
            answer = JSONRPCResponse(jsonrpc="2.0", id=request_id, result=result)
            await outgoing.send(SessionMessage(answer))

    with_peer(written, use)

    assert "are more than the 1000" in written[0]["error"]["message"]
    assert written[1] == {"jsonrpc": "2.0", "id": 2, "result": {"a": ""}}


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":NaN}', True),
        (b'{"id":"a","result":{}}', True),
        (b'{"id":1,"method":7}', False),
        (b'{"id":true}', False),
        (b'{"id":1,"result"', False),
        (b"[1]", False),
        (b"[" * 100_000, False),
    ],
)
def test_whoever_waits_for_what_is_no_answer_is_told(line: bytes, is_told: bool) -> None:
    async def nothing(*_: object) -> bytes:
        return b""

    noted: list[str] = []
    message = wire.message_in(line, Peer(nothing, nothing, noted.append))  # type: ignore[arg-type]

    assert len(noted) == 1
    assert (message is not None) is is_told

"""Messages that are too long, one of which never hurts another."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import MCPError
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from gateway import salvage, wire
from gateway.supervision import processes
from gateway.supervision.concealing import concealer
from gateway.supervision.processes import Tail
from gateway.wire import Incoming, Outgoing, Peer

sizes = st.integers(1, 50)
Use = Callable[[Incoming, Outgoing], Awaitable[Any]]


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a peer is told, where a message may have 1000 bytes."""
    monkeypatch.setattr(wire, "MAX_SENT_LINE_BYTES", 1000)
    return []


def with_peer(written: list[Any], use: Use) -> Any:
    async def read() -> bytes:
        await asyncio.Event().wait()
        return b""

    async def write(line: bytes) -> None:
        written.extend(json.loads(part) for part in line.splitlines())

    async def run() -> Any:
        async with wire.connected(Peer(read, write, str)) as (incoming, outgoing):
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
    assert "are more than the 1000 of one message" in refused.error.message
    assert written[0]["id"] == 2


def test_an_answer_that_is_too_long_becomes_an_error(written: list[Any]) -> None:
    async def use(incoming: Incoming, outgoing: Outgoing) -> None:
        for request_id in (1, 2, 3):
            result = {"a": "x" * 2000 if request_id == 1 else ""}
            answer = JSONRPCResponse(jsonrpc="2.0", id=request_id, result=result)
            await outgoing.send(SessionMessage(answer))

    with_peer(written, use)

    assert "are more than the 1000 of one message" in written[0]["error"]["message"]
    assert written[1] == {"jsonrpc": "2.0", "id": 2, "result": {"a": ""}}


@pytest.mark.parametrize(
    ("line", "ended"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":NaN}', 1),
        (b'{"id":"a","result":{}}', "a"),
        (b'{"jsonrpc":"2.0","id":1.0,"result":{}}', 1),
        (b'{"jsonrpc":"2.0","id":1,"result":{"a":' + b"[" * 3000 + b"]" * 3000 + b"}}", 1),
        (b'{"jsonrpc":"2.0","id":1,"result":{"a":' + b"9" * 5000 + b"}}", 1),
        (b'{"jsonrpc":"2.0","id":1,"result":{"a":"\xff"}}', 1),
        (b'{"result":{"id":7,"a":"\\ud800\\"{"},"jsonrpc":"2.0","id":1}', 1),
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"result":{}}', 1),
        (b'{"jsonrpc":"2.0","id":1,"result":{"a":', 1),
        (b'{"id":1,"method":7}', None),
        (b'{"id":1,"level":"info"}', None),
        (b'{"level":"info","error":"none"}', None),
        (b"[1]", None),
        (b"[" * 100_000, None),
        (b"Server is listening!", None),
    ],
)
def test_an_answer_that_cannot_be_read_ends_its_call(line: bytes, ended: object) -> None:
    noted: list[str] = []

    message = wire.message_in(line, silent_peer(noted))

    assert len(noted) == 1
    assert (message.message.id if message else None) == ended  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("beginning", "end", "answered"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":{"a":"', b'"}}', 1),
        (b'\xef\xbb\xbf {"id":"a","result":{"a":"', b'"}}', "a"),
        (b'{"result":{"id":7,"a":"', b'"},"jsonrpc":"2.0","id":1}', 1),
        (b'{"result":{"a":"', b'"}, "id": "b", "jsonrpc": "2.0"}\r', "b"),
        (b'{"method":"notifications/message","params":{"a":"', b'"}}', None),
        (b'{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"a":"', b'"}}', None),
    ],
)
def test_the_call_of_a_line_that_is_too_long_is_found_at_its_ends(
    beginning: bytes, end: bytes, answered: object
) -> None:
    (line,) = wire.SalvagingLineSplitter(2000).feed(beginning + b"A" * 5000 + end + b"\n")

    assert isinstance(line, wire.LongLine)
    assert salvage.call_answered_at_length(line.beginning, line.end) == answered


@pytest.mark.parametrize("end", [b'"}}', b'","id":1}}', b'"},"id":{}}', b'"},"id":null}'])
def test_a_long_answer_without_an_id_at_its_ends_is_of_no_call(end: bytes) -> None:
    with pytest.raises(salvage.Unattributable):
        salvage.call_answered_at_length(b'{"result":{"a":"', end)


@given(lines=st.lists(st.binary(max_size=40).filter(lambda one: b"\n" not in one)), size=sizes)
def test_lines_are_the_same_in_chunks_of_any_size(lines: list[bytes], size: int) -> None:
    given_lines = [b"{" + line for line in lines]
    written = b"".join(line + b"\n" for line in given_lines)
    splitting = wire.SalvagingLineSplitter(20)

    found = [
        line
        for start in range(0, len(written), size)
        for line in splitting.feed(written[start : start + size])
    ]

    assert found == [line if len(line) <= 20 else wire.LongLine(line, line) for line in given_lines]


def test_a_line_without_an_end_is_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MAX_SKIPPED_BYTES", 3000)
    lines = wire.SalvagingLineSplitter(1000)

    assert list(lines.feed(b"{" + b"A" * 2500)) == []
    with pytest.raises(salvage.Unattributable, match="a line of more than 1000 bytes"):
        list(lines.feed(b"A" * 2500))


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","result":{}}',
        b'{"jsonrpc":"2.0","id":null,"result":{}}',
        b'{"jsonrpc":"2.0","id":true,"result":{}}',
        b'{"jsonrpc":"2.0","result":' + b"[" * 200_000 + b',"id":1}',
        b'[{"jsonrpc":"2.0","id":1,"result":{}}]',
    ],
)
def test_an_answer_to_nobody_ends_the_connection_with_the_reason(line: bytes) -> None:
    noted: list[str] = []
    ended = asyncio.Event()

    async def run() -> None:
        chunks = [line + b"\n"]

        async def read() -> bytes:
            if chunks:
                return chunks.pop()
            await asyncio.Event().wait()
            return b""

        peer = replace(silent_peer(noted), read=read)
        async with wire.connected(peer, ended) as (incoming, _):  # type: ignore[arg-type]
            with pytest.raises(anyio.EndOfStream):
                await incoming.receive()

    asyncio.run(run())

    assert ended.is_set()
    assert "it wrote a" in noted[-1]


def test_a_request_after_the_end_is_reported_as_not_sent() -> None:
    async def run() -> None:
        async def write(line: bytes) -> None:
            raise BrokenPipeError

        ended = anyio.Event()
        async with wire.connected(Peer(asyncio.Event().wait, write, str), ended) as (_, outgoing):  # type: ignore[arg-type]
            request = SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=1, method="a"))
            await outgoing.send(request)
            await ended.wait()
            with pytest.raises(MCPError, match="nothing was sent") as error:
                await outgoing.send(request)

            assert error.value.error.code == wire.NOT_SENT

    asyncio.run(run())


def test_an_answer_that_json_cannot_hold_becomes_an_error(written: list[Any]) -> None:
    async def use(incoming: Incoming, outgoing: Outgoing) -> None:
        for value in ("\ud800", "text", "text"):
            answer = JSONRPCResponse(jsonrpc="2.0", id=1, result={"a": value})
            await outgoing.send(SessionMessage(answer))

    with_peer(written, use)

    assert "the answer: " in written[0]["error"]["message"]
    assert written[1]["result"] == {"a": "text"}


async def nothing(*_: object) -> bytes:
    return b""


def silent_peer(noted: list[str]) -> Peer:
    def note(line: str) -> str:
        noted.append(line)
        return line

    return Peer(nothing, nothing, note)  # type: ignore[arg-type]


SECRET = "hush-hush-" * 20


def test_a_quoted_answer_is_cut_after_its_secrets_are_replaced() -> None:
    tail = Tail(concealer({"KEY": SECRET}))
    line = f'{{"jsonrpc":"2.0","id":0,"result":{"x" * 900} {SECRET}'.encode()

    message = wire.message_in(line, Peer(nothing, nothing, tail.note))  # type: ignore[arg-type]

    assert message
    assert isinstance(message.message, JSONRPCError)
    assert "the answer is not a JSON-RPC message" in message.message.error.message
    assert "hush" not in message.message.error.message


def test_a_secret_in_a_long_line_of_standard_error_is_replaced() -> None:
    tail = Tail(concealer({"KEY": SECRET}))

    tail.read(b"x" * 900 + SECRET.encode()[:50])
    tail.read(SECRET.encode()[50:] + b"x" * 980)
    tail.read(b"\n" + b"y" * processes.MAX_STDERR_LINE_BYTES + SECRET.encode())
    tail.read(b"\nlast")
    tail.end()

    first, second, last = str(tail).splitlines()
    assert first.startswith("x" * 900 + "[KEY]xxx")
    assert second == f"[a line of more than {processes.MAX_STDERR_LINE_BYTES} bytes]"
    assert last == "last"

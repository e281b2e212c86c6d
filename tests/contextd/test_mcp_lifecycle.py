"""The states of a connection on standard input, and how its lines are cut."""

import os
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types.jsonrpc import jsonrpc_message_adapter

from contextd.lines import LineSplitter
from contextd.mcp.lifecycle import ALREADY_INITIALIZED, NOT_INITIALIZED, Lifecycle
from contextd.mcp.pipes import Unreadable, lines_of
from tests.plain_http import ENVELOPE, initialize, rpc

READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
BEGIN = initialize("2025-11-25")
BEGUN = {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-11-25"}}
FAILED = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no"}}


def after(*messages: dict[str, Any]) -> Lifecycle:
    lifecycle = Lifecycle()
    for message in messages:
        parsed = jsonrpc_message_adapter.validate_python(message)
        if "method" in message:
            assert lifecycle.refusal(parsed) is None
        else:
            lifecycle.answered(parsed)
    return lifecycle


def refusal(lifecycle: Lifecycle, message: dict[str, Any]) -> str | None:
    return lifecycle.refusal(jsonrpc_message_adapter.validate_python(message))


@pytest.mark.parametrize("before", [(), (READY,), (BEGIN,), (BEGIN, BEGUN)])
def test_requests_before_the_handshake_are_refused(
    before: tuple[dict[str, Any], ...],
) -> None:
    assert refusal(after(*before), rpc("tools/list", id=2)) == NOT_INITIALIZED


@pytest.mark.parametrize("before", [(BEGIN,), (BEGIN, BEGUN), (BEGIN, BEGUN, READY)])
def test_there_is_one_handshake(before: tuple[dict[str, Any], ...]) -> None:
    assert refusal(after(*before), {**BEGIN, "id": 2}) == ALREADY_INITIALIZED


@pytest.mark.parametrize("before", [(BEGIN, BEGUN, READY), (BEGIN, READY)])
def test_then_requests_pass(before: tuple[dict[str, Any], ...]) -> None:
    assert refusal(after(*before), rpc("tools/list", id=2)) is None


def test_a_failed_handshake_can_be_repeated() -> None:
    assert refusal(after(BEGIN, FAILED), {**BEGIN, "id": 2}) is None


@pytest.mark.parametrize("message", [rpc("ping"), rpc("tools/list", {"_meta": ENVELOPE})])
def test_requests_that_need_no_handshake_pass_at_once(message: dict[str, Any]) -> None:
    assert refusal(after(), message) is None


def test_an_id_is_free_again_when_it_is_answered_or_cancelled() -> None:
    cancel = {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 2},
    }
    ping = jsonrpc_message_adapter.validate_python(rpc("ping", id=2))
    answer = {"jsonrpc": "2.0", "id": 2, "result": {}}

    assert after(rpc("ping", id=2)).is_running(ping)
    assert not after(rpc("ping", id=2), answer).is_running(ping)
    assert not after(rpc("ping", id=2), cancel).is_running(ping)


@given(st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line)), st.data())
def test_lines_do_not_depend_on_chunks(lines: list[bytes], data: st.DataObject) -> None:
    content = b"".join(line + b"\n" for line in lines)
    places = data.draw(st.lists(st.integers(0, len(content))))
    cuts = sorted({0, *places, len(content)})
    chunks = [content[start:end] for start, end in pairwise(cuts)]

    assert list(fed(LineSplitter(limit=100), chunks)) == lines


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_only_the_line_that_is_too_long_is_refused(size: int) -> None:
    content = b"a\n" + b"x" * 50 + b"\nb\n"
    chunks = [content[start : start + size] for start in range(0, len(content), size)]

    assert list(fed(LineSplitter(limit=10), chunks)) == [b"a", None, b"b"]


def fed(lines: LineSplitter, chunks: Iterable[bytes]) -> Iterable[bytes | None]:
    for chunk in chunks:
        yield from lines.feed(chunk)


def test_the_last_line_needs_no_line_feed() -> None:
    source, sink = os.pipe()
    os.write(sink, b'\n  \n{"x')
    os.close(sink)

    found = list(lines_of(source))

    os.close(source)
    assert [type(one) for one in found] == [Unreadable]

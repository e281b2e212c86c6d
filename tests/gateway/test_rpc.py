"""Requests between processes of contextd: MCP, written without the SDK's sessions."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError
from mcp.server import Server
from mcp.types import CallToolRequestParams, CallToolResult
from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from gateway import rpc
from gateway.rpc import Client
from gateway.supervision import answering
from gateway.supervision.answering import Request
from tests.gateway import streams

Use = Callable[[Client], Awaitable[Any]]


class Other:
    """The process at the other side."""

    def __init__(self) -> None:
        self.began, self.cancelled = asyncio.Event(), asyncio.Event()
        self.writers: list[asyncio.StreamWriter] = []
        self.handlers = {
            one.__name__: one for one in (self.echo, self.wait, self.fail, self.crash, self.trace)
        }

    async def echo(self, request: Request) -> dict[str, Any]:
        for done in range(request.params.get("steps", 0)):
            await request.report(done, None, "step")
        return {"value": request.params.get("value")}

    async def wait(self, request: Request) -> dict[str, Any]:
        self.began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return {}

    async def fail(self, request: Request) -> dict[str, Any]:
        raise rpc.Failed("try again later", "busy", {"code": 7})

    async def crash(self, request: Request) -> dict[str, Any]:
        raise KeyError("secret")

    async def trace(self, request: Request) -> dict[str, Any]:
        continued = trace.get_current_span().get_span_context().trace_id
        return {"continued": f"{continued:032x}", "told": request.meta["traceparent"]}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        await answering.serve(reader, writer, self.handlers)
        writer.close()


def together(folder: Path, use: Callable[[Client, Other], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        other, path = Other(), folder / "socket"
        async with await asyncio.start_unix_server(other.serve, path):
            client = Client(*await asyncio.open_unix_connection(path))
            found = await use(client, other)
            for writer in other.writers:
                writer.close()
            await asyncio.wait([client._receiving])
            return found

    return asyncio.run(asyncio.wait_for(run(), 20))


@pytest.mark.parametrize("value", ["\ud800", "\n", "é", 1.5, None, [{}], "x" * 200_000])
def test_what_is_asked_and_answered_may_be_anything(tmp_path: Path, value: object) -> None:
    async def use(client: Client, other: Other) -> Any:
        return await client.request("echo", {"value": value}, 10)

    assert together(tmp_path, use) == {"resultType": "complete", "value": value}


def test_progress_comes_in_order_and_before_the_result(tmp_path: Path) -> None:
    reported = []

    async def report(done: float, total: float | None, message: str | None) -> None:
        reported.append((done, total, message))

    async def use(client: Client, other: Other) -> None:
        await client.request("echo", {"steps": 3}, 10, report)

    together(tmp_path, use)

    assert reported == [(0, None, "step"), (1, None, "step"), (2, None, "step")]


def test_a_request_is_part_of_the_trace_of_its_caller(tmp_path: Path) -> None:
    calling = SpanContext(0xABC, 0xDEF, is_remote=False, trace_flags=TraceFlags(1))

    async def use(client: Client, other: Other) -> Any:
        with trace.use_span(NonRecordingSpan(calling)):
            return await client.request("trace", {}, 10)

    found = together(tmp_path, use)

    assert found["continued"] == f"{0xABC:032x}"
    assert found["told"] == f"00-{0xABC:032x}-{0xDEF:016x}-01"


def test_a_failure_keeps_its_category_and_cause(tmp_path: Path) -> None:
    async def use(client: Client, other: Other) -> rpc.Failed:
        with pytest.raises(rpc.Failed) as failed:
            await client.request("fail", {}, 10)
        return failed.value

    failed = together(tmp_path, use)

    assert (failed.message, failed.category) == ("try again later", "busy")
    assert failed.cause == {"code": 7}


def test_an_unexpected_error_stays_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def use(client: Client, other: Other) -> Any:
        with pytest.raises(rpc.Failed, match="the call failed inside the gateway; see its log"):
            await client.request("crash", {}, 10)
        return await client.request("echo", {"value": 1}, 10)

    assert together(tmp_path, use)["value"] == 1
    assert "KeyError" in caplog.text


def test_the_end_of_the_other_side_is_told_from_what_was_never_sent(tmp_path: Path) -> None:
    async def use(client: Client, other: Other) -> None:
        waiting = asyncio.create_task(client.request("wait", {}, 10))
        await other.began.wait()
        other.writers[0].close()
        with pytest.raises(rpc.Closed):
            await waiting
        with pytest.raises(rpc.Unsent):
            await client.request("echo", {}, 10)

        await other.cancelled.wait()

    together(tmp_path, use)


def test_what_takes_too_long_is_cancelled_at_the_other_side(tmp_path: Path) -> None:
    async def use(client: Client, other: Other) -> None:
        with pytest.raises(TimeoutError):
            await client.request("wait", {}, 0.05)
        await other.cancelled.wait()

    together(tmp_path, use)


def test_a_caller_that_goes_away_cancels_its_request_alone(tmp_path: Path) -> None:
    async def use(client: Client, other: Other) -> Any:
        waiting = asyncio.create_task(client.request("wait", {}, 10))
        await other.began.wait()
        waiting.cancel()
        await other.cancelled.wait()
        return await client.request("echo", {"value": 1}, 10)

    assert together(tmp_path, use)["value"] == 1


def test_what_is_too_long_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc, "MAX_LINE_BYTES", 1000)

    async def use(client: Client, other: Other) -> Any:
        with pytest.raises(rpc.Failed, match="bytes are more than the 1000 of one message"):
            await client.request("echo", {"value": "x" * 2000}, 10)
        return await client.request("echo", {"value": "x"}, 10)

    assert together(tmp_path, use)["value"] == "x"


class OrdinaryServer:
    """A server of the SDK with tools that report, refuse and wait."""

    def __init__(self) -> None:
        self.cancelled, self.ended = asyncio.Event(), asyncio.Event()

    async def call(self, context: Any, params: CallToolRequestParams) -> CallToolResult:
        if params.name == "refuse":
            raise MCPError(-32602, "no such thing", {"category": "validation"})
        if params.name == "wait":
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled.set()
        await context.session.report_progress(1, 2, "half")
        told = context.meta[rpc.CALLER]["principal"]
        return CallToolResult(content=[], structured_content=[params.arguments, told])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server: Server[Any] = Server("an ordinary one", version="1", on_call_tool=self.call)
        async with streams.connected(reader, writer) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        self.ended.set()


def test_a_server_of_the_sdk_understands_what_is_asked(tmp_path: Path) -> None:
    reported = []

    async def report(done: float, total: float | None, message: str | None) -> None:
        reported.append((done, total, message))

    async def run() -> Any:
        other = OrdinaryServer()
        async with await asyncio.start_unix_server(other.serve, tmp_path / "socket"):
            reader, writer = await asyncio.open_unix_connection(tmp_path / "socket")
            client, meta = Client(reader, writer), {rpc.CALLER: {"principal": "user:3"}}
            asked = {"name": "add", "arguments": {"a": 1}, "_meta": meta}
            result = await client.request("tools/call", asked, 10, report)
            with pytest.raises(rpc.Failed, match="no such thing") as failed:
                await client.request("tools/call", {"name": "refuse"}, 10)
            with pytest.raises(TimeoutError):
                await client.request("tools/call", {"name": "wait"}, 0.1)
            await other.cancelled.wait()
            writer.close()
            await asyncio.wait([client._receiving])
            await other.ended.wait()
            return result, failed.value

    result, failed = asyncio.run(asyncio.wait_for(run(), 20))

    assert result["structuredContent"] == [{"a": 1}, "user:3"]
    assert reported == [(1, 2, "half")]
    assert failed.category == "validation"


ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
ECHO = {"jsonrpc": "2.0", "id": 1, "method": "echo"}


def answers_to(folder: Path, *lines: Any, number: int = 0) -> list[Any]:
    """What the server answers to lines that no process of ours writes."""

    async def run() -> list[Any]:
        other, path = Other(), folder / "socket"
        async with await asyncio.start_unix_server(other.serve, path):
            reader, writer = await asyncio.open_unix_connection(path)
            for line in lines:
                text = line if isinstance(line, str) else json.dumps(line)
                writer.write(text.encode() + b"\n")
            answers = [json.loads(await reader.readline()) for _ in range(number or len(lines))]
            writer.close()
            await other.writers[0].wait_closed()
            return answers

    return asyncio.run(asyncio.wait_for(run(), 20))


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("no JSON", -32700, "the line is not JSON"),
        ("[" * 100_000, -32700, "the line is not JSON"),
        ([{**ECHO, "params": {"_meta": ENVELOPE}}], -32600, "this is not a JSON-RPC 2.0 message"),
        ({**ECHO, "id": None}, -32600, "the id of a request must be a string or an integer"),
    ],
)
def test_what_is_no_request_is_refused_and_the_connection_goes_on(
    tmp_path: Path, line: Any, code: int, told: str
) -> None:
    request = {**ECHO, "params": {"value": 1, "_meta": ENVELOPE}}

    refused, answered = answers_to(tmp_path, line, request)

    assert refused == {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": told}}
    assert answered["result"]["value"] == 1


def test_a_request_states_its_protocol_version_which_is_served(tmp_path: Path) -> None:
    key = "io.modelcontextprotocol/protocolVersion"
    unstated, unserved, unknown = answers_to(
        tmp_path,
        ECHO,
        {**ECHO, "id": "2", "params": {"_meta": {**ENVELOPE, key: "2025-11-25"}}},
        {**ECHO, "id": 3, "method": "nothing", "params": {"_meta": ENVELOPE}},
    )

    assert (unstated["id"], unstated["error"]["code"]) == (1, -32602)
    assert (unserved["id"], unserved["error"]["code"]) == ("2", -32022)
    assert unserved["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2025-11-25"}
    assert (unknown["id"], unknown["error"]["code"]) == (3, -32601)


def test_an_id_is_used_once_at_a_time(tmp_path: Path) -> None:
    waiting = {**ECHO, "method": "wait", "params": {"_meta": ENVELOPE}}

    (refused,) = answers_to(tmp_path, waiting, waiting, number=1)

    assert refused["error"]["message"] == "a request with this id is running"

"""Telemetry of whole processes: what reaches a collector, and what happens when none answers."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import httpx2

from tests.contextd.collector import collecting, exporting, silent_collector
from tests.server import ROOT, measured, web_process

MODERN, HANDSHAKE = "2026-07-28", "2025-06-18"
PROTOCOL = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def traceparent(trace: str) -> str:
    return f"00-{trace * 32}-b7ad6b7169203331-01"


def post(
    url: str, version: str, method: str, params: dict[str, Any], headers: dict[str, str]
) -> httpx2.Response:
    answer = httpx2.post(
        f"{url}/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
        headers={
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": version,
            **headers,
        },
        timeout=30,
    )
    assert answer.status_code == 200, answer.text
    return answer


def call_modern(url: str, meta: dict[str, str], **headers: str) -> None:
    params = {"name": "door_echo", "arguments": {"text": "x"}, "_meta": {**PROTOCOL, **meta}}
    names = {"Mcp-Method": "tools/call", "Mcp-Name": "door_echo"}
    post(url, MODERN, "tools/call", params, {**names, **headers})


def call_in_session(url: str, **headers: str) -> None:
    client = {"clientInfo": {"name": "test", "version": "1"}, "capabilities": {}}
    hello = {"protocolVersion": HANDSHAKE, **client}
    session_id = post(url, HANDSHAKE, "initialize", hello, {}).headers["mcp-session-id"]
    params = {"name": "door_echo", "arguments": {"text": "x"}}
    post(url, HANDSHAKE, "tools/call", params, {"Mcp-Session-Id": session_id, **headers})


def test_a_web_process_delivers_the_spans_and_metrics_of_both_doors(
    environment: Mapping[str, str], tmp_path: Path
) -> None:
    with (
        collecting() as collector,
        web_process(exporting(measured(environment), collector.url), tmp_path / "log") as server,
    ):
        call_modern(server.url, {}, traceparent=traceparent("a"))
        call_modern(server.url, {"traceparent": traceparent("b")})
        call_in_session(server.url, traceparent=traceparent("c"))
        httpx2.get(f"{server.url}/healthz")
        httpx2.get(f"{server.url}/healthz", headers={"Host": "elsewhere.example"})

    traces = ["a" * 32, "b" * 32, "c" * 32]
    for name in ("tools/call door_echo", "operation door_echo"):
        assert sorted(span.trace_id.hex() for span in collector.spans_named(name)) == traces
    assert len(collector.spans_named("GET healthz")) == 1
    durations = collector.labels_of("http.server.request.duration")
    seen = {(labels.get("http.route"), labels["http.response.status_code"]) for labels in durations}
    assert seen == {("/mcp", "200"), ("healthz", "200"), (None, "421")}
    assert all(line.startswith("{") for line in server.log.read_text().splitlines())


def run(program: str, environment: Mapping[str, str]) -> str:
    setup = "import django; django.setup(); from contextd import telemetry\n"
    finished = subprocess.run(
        [sys.executable, "-c", setup + dedent(program)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_the_end_of_a_process_waits_five_seconds_for_a_collector_and_no_longer(
    environment: Mapping[str, str],
) -> None:
    program = """
        import time
        telemetry.set_up("test")
        with telemetry.timed("search", domain="x"):
            pass
        started = time.monotonic()
        telemetry.shut_down()
        telemetry.shut_down()
        print(time.monotonic() - started)
    """
    with silent_collector() as url:
        seconds = float(run(program, exporting(environment, url)))

    assert 4.9 < seconds < 8


def test_without_a_collector_nothing_of_it_is_loaded(environment: Mapping[str, str]) -> None:
    program = """
        import sys
        telemetry.set_up("test")
        async def app(scope, receive, send): ...
        print("contextd.telemetry.sdk" in sys.modules)
        print(telemetry.http_middleware(app, "/mcp") is app)
        telemetry.shut_down()
    """
    assert run(program, environment).split() == ["False", "True"]

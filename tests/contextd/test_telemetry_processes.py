"""Telemetry of whole processes: what reaches a collector, and what happens when none answers."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import httpx2

from tests.contextd.collector import collecting, exporting, silent_collector
from tests.server import ROOT, web_process

TRACE, OTHER_TRACE = "0af7651916cd43dd8448eb211c80319c", "4bf92f3577b34da6a3ce929d0e0e4736"


def call_tool(url: str, meta: dict[str, str], **headers: str) -> None:
    protocol = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    parameters = {"name": "door_echo", "arguments": {"text": "x"}, "_meta": {**protocol, **meta}}
    answer = httpx2.post(
        f"{url}/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters},
        headers={
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "door_echo",
            **headers,
        },
        timeout=30,
    )
    assert answer.status_code == 200, answer.text


def test_a_web_process_delivers_the_spans_and_metrics_of_both_doors(
    environment: Mapping[str, str], tmp_path: Path
) -> None:
    with (
        collecting() as collector,
        web_process(exporting(environment, collector.url), tmp_path / "log") as server,
    ):
        call_tool(server.url, {}, traceparent=f"00-{TRACE}-b7ad6b7169203331-01")
        call_tool(server.url, {"traceparent": f"00-{OTHER_TRACE}-b7ad6b7169203331-01"})
        httpx2.get(f"{server.url}/healthz")
        httpx2.get(f"{server.url}/healthz", headers={"Host": "elsewhere.example"})

    traces = {TRACE, OTHER_TRACE}
    assert {s.trace_id.hex() for s in collector.spans_named("operation door_echo")} == traces
    assert {s.trace_id.hex() for s in collector.spans_named("tools/call door_echo")} == traces
    assert len(collector.spans_named("GET healthz")) == 1
    measured = collector.labels_of("http.server.request.duration")
    seen = {(labels.get("http.route"), labels["http.response.status_code"]) for labels in measured}
    assert seen == {("/mcp", "200"), ("healthz", "200"), (None, "421")}


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

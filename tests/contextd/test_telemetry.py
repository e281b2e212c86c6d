"""Spans and metrics, looked at through the SDK's exporters that keep them in memory."""

import asyncio
import dataclasses
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.asgi import get_asgi_application
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.postgresql.base import DatabaseWrapper
from opentelemetry import trace
from opentelemetry.proto.trace.v1.trace_pb2 import Status
from opentelemetry.trace import SpanKind, StatusCode
from starlette.types import Message, Receive, Scope, Send

from contextd import jobs, notes, pipeline, telemetry
from contextd.callers import Caller, Entry
from contextd.errors import ContextdError
from contextd.models import Project
from contextd.operations import Operation, Request, Result, operation
from contextd.telemetry import process
from contextd.workers import Workers
from tests.conftest import Call
from tests.contextd import asgi_client, probes
from tests.contextd.collector import collecting, exporting
from tests.contextd.recording import Recording, parent_of, trace_of
from tests.contextd.worker import worker_process
from tests.server import measured
from tests.waiting import wait_for

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"
CANARY = "tangerine"
CREDENTIAL = "postgresql://app:s3cretpass@db/shop"


@pytest.fixture(scope="session")
def started() -> Recording:
    """OpenTelemetry starts once in a process and stays: tests that run later are recorded too."""
    recording = Recording()
    process.start("test", recording.exporter, recording.reader)
    # Only connections that are made after the start are instrumented.
    database = connections[DEFAULT_DB_ALIAS]
    assert isinstance(database, DatabaseWrapper)
    database.close()
    database.close_pool()
    return recording


@pytest.fixture
def recording(started: Recording, declared: dict[str, Operation], settings: Any) -> Recording:
    probes.declare()
    settings.CONTEXTD_RATE_LIMITS = False
    started.forget_spans()
    return started


class Nothing(Request):
    """Do something."""


def declare_about(project: Project) -> None:
    def handle(caller: Caller, request: Nothing) -> Result:
        notes.about_project(project.pk)
        return Result()

    operation("probe_about", effect="read", timeout=1)(handle)


def test_a_call_is_a_span_that_says_who_called_what_and_how_it_ended(
    db: None, recording: Recording, caller: Caller
) -> None:
    backend = Entry(name="backend", projects=frozenset([7, 3]))
    somebody = dataclasses.replace(caller, entry=backend, connection="s1")
    pipeline.call("probe_note", {"text": "x"}, somebody)

    assert dict(recording.span("operation probe_note").attributes or {}) == {
        "contextd.tool": "probe_note",
        "contextd.context": "backend",
        "contextd.session": "s1",
        "contextd.project": (3, 7),
        "contextd.outcome": "ok",
    }


def test_the_project_of_a_call_is_named_once_it_is_known(
    db: None, recording: Recording, caller: Caller
) -> None:
    project = Project.objects.create(name="shop")
    declare_about(project)
    pipeline.call("probe_about", {}, caller)

    attributes = recording.span("operation probe_about").attributes or {}
    assert attributes["contextd.project"] == (project.pk,)


def test_queries_are_spans_inside_that_of_the_call(call: Call, recording: Recording) -> None:
    call("probe_doze", seconds=0)

    (query,) = [s for s in recording.spans() if "pg_sleep" in str((s.attributes or {}).values())]
    assert query.parent == recording.span("operation probe_doze").context


@pytest.mark.parametrize(
    ("name", "arguments", "category", "status"),
    [
        ("probe_note", {}, "validation", StatusCode.UNSET),
        ("probe_doze", {"seconds": 9}, "timeout", StatusCode.ERROR),
        ("probe_bug", {"seconds": 1}, "internal", StatusCode.ERROR),
    ],
)
def test_failures_are_counted_by_category(
    call: Call,
    recording: Recording,
    name: str,
    arguments: dict[str, Any],
    category: str,
    status: StatusCode,
) -> None:
    before = recording.total("contextd.operation.errors", tool=name, category=category)
    with pytest.raises(ContextdError):
        call(name, **arguments)

    after = recording.total("contextd.operation.errors", tool=name, category=category)
    span = recording.span(f"operation {name}")
    assert after - before == 1
    assert (span.attributes or {})["contextd.outcome"] == category
    assert span.status.status_code == status


def test_calls_are_counted_and_timed_by_tool_and_outcome(call: Call, recording: Recording) -> None:
    calls = recording.total("contextd.operation.calls", tool="probe_note")
    timed = recording.total("contextd.operation.duration", tool="probe_note", outcome="ok")
    call("probe_note", text="x")
    with pytest.raises(ContextdError):
        call("probe_note")

    assert recording.total("contextd.operation.calls", tool="probe_note") - calls == 2
    after = recording.total("contextd.operation.duration", tool="probe_note", outcome="ok")
    assert after - timed == 1


def quote_the_row(caller: Caller, request: Nothing) -> Result:
    Project.objects.create(name=CANARY, git_remote=CANARY)
    Project.objects.create(name=CANARY, git_remote=CANARY)
    return Result()


def test_no_span_contains_what_was_said(call: Call, recording: Recording) -> None:
    operation("probe_twice", effect="read", timeout=1)(quote_the_row)
    call("probe_note", text=CANARY)
    for name, arguments in (
        ("probe_note", {"text": "x", CANARY: "x"}),
        ("probe_bug", {"seconds": 1}),
        ("probe_twice", {}),
    ):
        with pytest.raises(ContextdError):
            call(name, **arguments)

    spans = [span.to_json() for span in recording.spans()]
    assert any("INSERT" in text for text in spans)
    assert not [text for text in spans if CANARY in text or "hunter2" in text]


def defer_work(caller: Caller, request: Nothing) -> Result:
    jobs.defer("tests.work", CREDENTIAL)
    return Result()


def test_work_that_a_call_defers_is_part_of_its_trace_also_in_the_log(
    call: Call, recording: Recording, environment: Mapping[str, str], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    operation("probe_defer", effect="read", timeout=5)(defer_work)
    with (
        collecting() as collector,
        worker_process(measured(exporting(environment, collector.url)), log),
    ):
        call("probe_defer")
        wait_for(lambda: collector.spans_named("run/tests.work"), 90, explain=log.read_text)

    calling = trace_of(recording.span("operation probe_defer"))
    (run,) = collector.spans_named("run/tests.work")
    *lines, blank, farewell = log.read_text().splitlines()
    said, failed = [e for e in map(json.loads, lines) if e.get("trace_id") == calling]
    assert run.trace_id.hex() == calling
    assert run.status.code == Status.STATUS_CODE_ERROR
    assert said["message"] == "working with postgresql://app:[REDACTED:url-password]@db/shop"
    assert "RuntimeError: failed with postgresql" in failed["exception"]
    assert (blank, farewell) == ("", "worker: Warm shutdown (MainProcess)")
    assert "s3cretpass" not in f"{collector.spans} {log.read_text()}"


def serve_one_call(caller: Caller, **headers: str) -> None:
    """As the MCP door does: the request is read on the event loop, the call runs in a thread."""

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        await workers.run(partial(pipeline.call, "probe_note", {"text": "x"}, caller), seconds=5)

    workers = Workers(1)
    app = telemetry.http_middleware(door, "/mcp")
    asyncio.run(asgi_client.get(app, "/mcp", ignore, **headers))
    workers.shut_down()


def test_a_call_continues_the_trace_of_its_request(
    transactional_db: None, recording: Recording, caller: Caller
) -> None:
    serve_one_call(caller, traceparent=PARENT)

    assert parent_of(recording.span("operation probe_note")) == PARENT


@pytest.mark.parametrize("junk", ["", "00-zz", f"{PARENT}x", PARENT * 100])
def test_a_call_without_a_usable_trace_starts_one(
    transactional_db: None, recording: Recording, caller: Caller, junk: str
) -> None:
    serve_one_call(caller, traceparent=junk, tracestate="=")

    assert parent_of(recording.span("operation probe_note")) is None


def test_embedding_and_searching_are_timed_by_backend_and_outcome(recording: Recording) -> None:
    with telemetry.timed("embedding", backend="test"):
        pass
    with pytest.raises(ValueError, match=CANARY), telemetry.timed("search", domain="test"):
        raise ValueError(CANARY)

    embedding, search = "contextd.embedding.duration", "contextd.search.duration"
    assert recording.total(embedding, backend="test", outcome="ok") == 1
    assert recording.total(search, domain="test", outcome="error") == 1
    assert dict(recording.span("contextd.embedding").attributes or {}) == {"backend": "test"}
    assert CANARY not in recording.span("contextd.search").to_json()


def test_open_sessions_are_reported_while_somebody_counts_them(recording: Recording) -> None:
    with telemetry.counting_sessions(lambda: 2), telemetry.counting_sessions(lambda: 1):
        assert recording.total("contextd.sessions.active") == 3

    assert recording.total("contextd.sessions.active") == 0


DURATION, ACTIVE = "http.server.request.duration", "http.server.active_requests"


async def ignore(message: Message) -> None:
    pass


async def stream(scope: Scope, receive: Receive, send: Send) -> None:
    """Three events, then the end."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for number in range(3):
        with trace.get_tracer("test").start_as_current_span("event"):
            body = f"data: {number}\n\n".encode()
            await send({"type": "http.response.body", "body": body, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def test_a_stream_on_mcp_is_active_until_it_ends_and_makes_no_span_per_event(
    recording: Recording,
) -> None:
    active: list[float] = []

    async def look(message: Message) -> None:
        active.append(recording.total(ACTIVE, http__request__method="GET"))

    streamed: dict[str, Any] = {"http__route": "/mcp", "http__response__status_code": 200}
    before = recording.total(DURATION, **streamed)
    app = telemetry.http_middleware(stream, "/mcp")
    asyncio.run(asgi_client.get(app, "/mcp", look, traceparent=PARENT))

    assert active == [1, 1, 1, 1, 1]
    assert recording.total(ACTIVE) == 0
    assert recording.total(DURATION, **streamed) - before == 1
    assert [span.name for span in recording.spans()] == ["event"] * 3
    assert {trace_of(span) for span in recording.spans()} == {TRACE}


def test_a_stream_whose_reader_goes_away_is_not_active_any_more(recording: Recording) -> None:
    async def stay(scope: Scope, receive: Receive, send: Send) -> None:
        await stream(scope, receive, send)
        await asyncio.Event().wait()

    async def leave() -> None:
        async def ignore(message: Message) -> None:
            reached.set()

        reached = asyncio.Event()
        request = asgi_client.get(telemetry.http_middleware(stay, "/mcp"), "/mcp", ignore)
        task = asyncio.create_task(request)
        await reached.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(leave())

    assert recording.total(ACTIVE) == 0


def test_a_request_that_crashes_counts_as_an_internal_error(recording: Recording) -> None:
    async def crash(scope: Scope, receive: Receive, send: Send) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        asyncio.run(asgi_client.get(telemetry.http_middleware(crash, "/mcp"), "/crash", ignore))

    assert recording.total(DURATION, http__response__status_code=500) == 1
    assert recording.total(ACTIVE) == 0


def test_a_request_to_django_is_one_span_and_one_measurement_with_its_route(
    transactional_db: None, recording: Recording
) -> None:
    before = recording.total(DURATION, http__route="healthz")
    django: Any = get_asgi_application()
    app = telemetry.http_middleware(django, "/mcp")
    asyncio.run(asgi_client.get(app, f"/healthz?q={CANARY}", ignore, traceparent=PARENT))

    span = recording.span("GET healthz")
    assert span.kind == SpanKind.SERVER
    assert trace_of(span) == TRACE
    assert recording.total(DURATION, http__route="healthz") - before == 1
    assert recording.total(ACTIVE) == 0
    assert CANARY not in "".join(span.to_json() for span in recording.spans())

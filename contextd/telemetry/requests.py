"""HTTP requests: number, duration and status, and the trace they belong to."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import HttpRequest, HttpResponse
from opentelemetry import context as otel_context
from opentelemetry import metrics
from opentelemetry.trace import Span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.http import sanitize_method
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import contextd
from contextd.telemetry import process
from contextd.telemetry.measures import BUCKETS

STATUS, ROUTE = "http.response.status_code", "http.route"
OUTCOME = "contextd.telemetry.outcome"

_meter = metrics.get_meter("contextd", contextd.__version__)
_duration = _meter.create_histogram(
    "http.server.request.duration",
    "s",
    "Duration of requests; a stream counts when it ends",
    explicit_bucket_boundaries_advisory=BUCKETS,
)
_active = _meter.create_up_down_counter(
    "http.server.active_requests", "{request}", "Requests being answered, including open streams"
)
_propagator = TraceContextTextMapPropagator()


def http_middleware(app: ASGIApp, beside_django: str) -> ASGIApp:
    """Measure all requests to `app`; `beside_django` is the path that Django does not serve.

    Spans are created by Django's instrumentation and, on that path, by the MCP SDK.
    """
    return MeasuredRequests(app, beside_django) if process.is_on() else app


class MeasuredRequests:
    def __init__(self, app: ASGIApp, beside_django: str) -> None:
        self._app = app
        self._beside_django = beside_django

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["path"].rstrip("/") == self._beside_django:
            with _sender_trace(Headers(scope=scope)):
                await self._measure(scope, receive, send, {ROUTE: self._beside_django})
        else:
            await self._measure(scope, receive, send, {})

    async def _measure(
        self, scope: Scope, receive: Receive, send: Send, outcome: dict[str, Any]
    ) -> None:
        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start":
                outcome[STATUS] = message["status"]
            await send(message)

        labels = {
            "http.request.method": sanitize_method(scope["method"]),
            "url.scheme": scope["scheme"],
        }
        started = time.perf_counter()
        _active.add(1, labels)
        try:
            await self._app({**scope, OUTCOME: outcome}, receive, watch)
        except Exception:
            outcome.setdefault(STATUS, 500)  # the server sends it for the application
            raise
        finally:
            _active.add(-1, labels)
            _duration.record(time.perf_counter() - started, labels | outcome)


@contextmanager
def _sender_trace(headers: Headers) -> Iterator[None]:
    """Continue the trace of `traceparent`; the MCP SDK handles that of a message's `_meta`."""
    token = otel_context.attach(_propagator.extract(headers))
    try:
        yield
    finally:
        otel_context.detach(token)


def note_route(span: Span, request: HttpRequest, response: HttpResponse) -> None:
    """Record the route. Django's instrumentation calls this, since the middleware has no routes."""
    outcome = getattr(request, "scope", {}).get(OUTCOME)
    if outcome is not None and request.resolver_match:
        outcome[ROUTE] = request.resolver_match.route

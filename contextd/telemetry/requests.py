"""What requests bring along and what is measured of those that Django does not serve."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.http import sanitize_method
from starlette.types import ASGIApp

from contextd.telemetry import process

TRACE_KEYS = ("traceparent", "tracestate")
MAX_TRACE_VALUE = 512

_propagator = TraceContextTextMapPropagator()


def context_from(headers: Mapping[str, str], meta: Mapping[str, Any] | None) -> Context:
    """The trace a call belongs to: that of its headers, else of its `_meta`, else the current."""
    current = otel_context.get_current()
    for carrier in (headers, meta or {}):
        found = _propagator.extract(_trace_values(carrier), Context())
        if trace_id := _trace_id(found):
            # A span of that trace that is open already is nearer to the call than the sender's.
            return current if trace_id == _trace_id(current) else found
    return current


def _trace_values(carrier: Mapping[str, Any]) -> dict[str, str]:
    values = {key: carrier.get(key) for key in TRACE_KEYS}
    return {
        key: value
        for key, value in values.items()
        if isinstance(value, str) and len(value) <= MAX_TRACE_VALUE
    }


def _trace_id(context: Context) -> int:
    """Zero when the context is in no trace."""
    return trace.get_current_span(context).get_span_context().trace_id


@contextmanager
def attached(context: Context) -> Iterator[None]:
    """Make the spans and log lines of the block part of that trace."""
    token = otel_context.attach(context)
    try:
        yield
    finally:
        otel_context.detach(token)


def http_middleware(app: ASGIApp, route: str) -> ASGIApp:
    """Measure the requests of an application beside Django; call it after `set_up`."""
    if not process.is_on():
        return app
    from opentelemetry.instrumentation.asgi import OpenTelemetryMiddleware

    def describe(scope: dict[str, Any]) -> tuple[str, dict[str, str]]:
        return f"{sanitize_method(scope['method'])} {route}", {"http.route": route}

    measured: ASGIApp = OpenTelemetryMiddleware(
        app, default_span_details=describe, exclude_spans=["receive", "send"]
    )
    return measured

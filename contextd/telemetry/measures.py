"""contextd's own spans and metrics."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

from django.dispatch import receiver
from opentelemetry import metrics, trace
from opentelemetry.metrics import CallbackOptions, Histogram, Observation
from opentelemetry.trace import Span, StatusCode

import contextd
from contextd.callers import Caller
from contextd.notes import Notes
from contextd.operations import Operation
from contextd.signals import operation_finished

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
FAULTS_OF_OURS = {"internal", "timeout"}
MAX_PROJECTS = 20

_tracer = trace.get_tracer("contextd", contextd.__version__)
_meter = metrics.get_meter("contextd", contextd.__version__)


def _histogram(name: str, description: str) -> Histogram:
    return _meter.create_histogram(
        name, "s", description, explicit_bucket_boundaries_advisory=BUCKETS
    )


@dataclass(frozen=True, slots=True)
class RunningOperation:
    tool: str
    caller: Caller
    span: Span


_running: ContextVar[RunningOperation | None] = ContextVar("running_operation", default=None)
_duration = _histogram("contextd.operation.duration", "Duration of calls")
_calls = _meter.create_counter("contextd.operation.calls", description="Calls, by tool")
_errors = _meter.create_counter(
    "contextd.operation.errors", description="Failed calls, by tool and category"
)


def running_operation() -> RunningOperation | None:
    return _running.get()


@contextmanager
def operation_span(operation: Operation, caller: Caller) -> Iterator[None]:
    """Open the span of one call; record no exceptions, since their messages quote callers."""
    attributes: dict[str, Any] = {
        "contextd.tool": operation.name,
        "contextd.context": caller.context,
        "contextd.session": caller.connection,
    }
    if caller.projects is not None:
        attributes["contextd.project"] = sorted(caller.projects)[:MAX_PROJECTS]
    with _content_free_span(f"operation {operation.name}", attributes) as span:
        token = _running.set(RunningOperation(operation.name, caller, span))
        try:
            yield
        finally:
            _running.reset(token)


@receiver(operation_finished)
def record_operation(
    operation: Operation, category: str, seconds: float, notes: Notes, **kwargs: Any
) -> None:
    if running := _running.get():
        if notes.project_id is not None:
            running.span.set_attribute("contextd.project", [notes.project_id])
        running.span.set_attribute("contextd.outcome", category)
        if category in FAULTS_OF_OURS:
            running.span.set_status(StatusCode.ERROR)
    _duration.record(seconds, {"tool": operation.name, "outcome": category})
    _calls.add(1, {"tool": operation.name})
    if category != "ok":
        _errors.add(1, {"tool": operation.name, "category": category})


Activity = Literal["embedding", "search"]

_activities: dict[Activity, Histogram] = {
    "embedding": _histogram("contextd.embedding.duration", "Duration of embedding"),
    "search": _histogram("contextd.search.duration", "Duration of searches"),
}


@contextmanager
def timed(activity: Activity, **labels: str) -> Iterator[None]:
    """Measure the block, as a span and in `contextd.<activity>.duration`.

    Labels split the metric, so they must have few values: a backend, a domain; never content or
    ids.
    """
    started = time.perf_counter()
    outcome = "error"
    with _content_free_span(f"contextd.{activity}", labels):
        try:
            yield
            outcome = "ok"
        finally:
            seconds = time.perf_counter() - started
            _activities[activity].record(seconds, {**labels, "outcome": outcome})


@contextmanager
def _content_free_span(name: str, attributes: dict[str, Any]) -> Iterator[Span]:
    with _tracer.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as span:
        yield span


SessionCounter = Callable[[], int]

_session_counters: set[SessionCounter] = set()


@contextmanager
def counting_sessions(count: SessionCounter) -> Iterator[None]:
    """Report `count()` as `contextd.sessions.active`; it is called in its own thread."""
    _session_counters.add(count)
    try:
        yield
    finally:
        _session_counters.discard(count)


def _observe_sessions(options: CallbackOptions) -> Iterator[Observation]:
    yield Observation(sum(count() for count in list(_session_counters)))


_meter.create_observable_gauge(
    "contextd.sessions.active",
    [_observe_sessions],
    description="Sessions of protocols up to 2025-11-25 that this process holds",
)

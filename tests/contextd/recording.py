"""What telemetry has recorded, kept in memory by the SDK's own exporters."""

from dataclasses import dataclass, field
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


@dataclass(frozen=True)
class Recording:
    exporter: InMemorySpanExporter = field(default_factory=lambda: InMemorySpanExporter(1000))
    reader: InMemoryMetricReader = field(default_factory=InMemoryMetricReader)

    def forget_spans(self) -> None:
        self.spans()
        self.exporter.clear()

    def spans(self, name: str | None = None) -> list[ReadableSpan]:
        provider = trace.get_tracer_provider()
        assert isinstance(provider, TracerProvider)
        provider.force_flush()
        return [s for s in self.exporter.get_finished_spans() if name in (None, s.name)]

    def span(self, name: str) -> ReadableSpan:
        (only,) = self.spans(name)
        return only

    def points(self, metric: str, **labels: str | int) -> list[Any]:
        """The data points of the metric that have these labels; `__` stands for a dot."""
        wanted = {(name.replace("__", "."), value) for name, value in labels.items()}
        measured = self.reader.get_metrics_data()
        return [
            point
            for resource in (measured.resource_metrics if measured else [])
            for scope in resource.scope_metrics
            for found in scope.metrics
            if found.name == metric
            for point in found.data.data_points
            if wanted <= set((point.attributes or {}).items())
        ]

    def total(self, metric: str, **labels: str | int) -> float:
        """How many measurements a histogram has, or the sum of what a counter or gauge shows."""
        points = self.points(metric, **labels)
        return float(sum(p.count if hasattr(p, "count") else p.value for p in points))


def trace_of(span: ReadableSpan) -> str:
    assert span.context
    return trace.format_trace_id(span.context.trace_id)


def parent_of(span: ReadableSpan) -> str | None:
    """The parent as a `traceparent` names it."""
    if span.parent is None:
        return None
    ids = trace.format_trace_id(span.parent.trace_id), trace.format_span_id(span.parent.span_id)
    return f"00-{ids[0]}-{ids[1]}-01"

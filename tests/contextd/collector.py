"""An OpenTelemetry collector that keeps what it is sent, and one that never answers."""

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.http_server import QuietHandler, serving


@dataclass(frozen=True)
class Collector:
    url: str
    spans: list[Span] = field(default_factory=list)
    metrics: list[Metric] = field(default_factory=list)
    resources: list[Resource] = field(default_factory=list)

    def take(self, path: str, body: bytes) -> None:
        if path == "/v1/traces":
            for traced in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.resources.append(traced.resource)
                self.spans.extend(span for scope in traced.scope_spans for span in scope.spans)
        else:
            for measured in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                self.metrics.extend(m for scope in measured.scope_metrics for m in scope.metrics)

    def spans_named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]

    def labels_of(self, metric: str) -> list[dict[str, str]]:
        """The labels of each point of a histogram, as text."""
        return [
            {a.key: a.value.string_value or str(a.value.int_value) for a in point.attributes}
            for found in self.metrics
            if found.name == metric
            for point in found.histogram.data_points
        ]


def exporting(environment: Mapping[str, str], url: str) -> Mapping[str, str]:
    """For a process that sends to the collector, and soon."""
    return {**environment, "OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_BSP_SCHEDULE_DELAY": "100"}


@contextmanager
def collecting() -> Iterator[Collector]:
    class Handler(QuietHandler):
        def do_POST(self) -> None:
            collector.take(self.path, self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

    with serving(Handler) as address:
        collector = Collector(address)
        yield collector


@contextmanager
def silent_collector() -> Iterator[str]:
    """Its address: connections are made, since the kernel does that, and stay unanswered."""
    with socket.create_server(("127.0.0.1", 0), backlog=10) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"

"""Keeps what users wrote out of exported spans, including those of libraries."""

from collections.abc import Sequence

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import Status

# Query strings contain searches; the reason of a retry is an error's message.
CONTENT = {"url.query", "url.full", "http.url", "http.target", "celery.retry.reason"}
MAX_NAME_LENGTH = 200


class ContentFree(SpanExporter):
    """Exports spans without events and messages: a database error quotes the refused row."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self._exporter.export([_without_content(span) for span in spans])

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


def _without_content(span: ReadableSpan) -> ReadableSpan:
    attributes = span.attributes or {}
    return ReadableSpan(
        name=span.name[:MAX_NAME_LENGTH],
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes={key: value for key, value in attributes.items() if key not in CONTENT},
        links=span.links,
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )

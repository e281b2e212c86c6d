"""OpenTelemetry's providers and instrumentations, as contextd uses them."""

import os
from collections.abc import Callable
from typing import Any

from opentelemetry import metrics, trace
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.instrumentation.django import DjangoInstrumentor
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader
from opentelemetry.sdk.metrics.view import DropAggregation, View
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

import contextd
from contextd.telemetry.privacy import ContentFree

INSTRUMENTORS: tuple[Callable[[], Any], ...] = (
    DjangoInstrumentor,
    PsycopgInstrumentor,
    CeleryInstrumentor,
)
LIMITS = SpanLimits(max_span_attribute_length=2000)

# The ASGI instrumentation keeps the size on itself, so that concurrent responses mix theirs up.
WITHOUT_SIZES = View(instrument_name="http.server.*.body.size", aggregation=DropAggregation())


def install(
    service: str, spans: SpanExporter, measurements: MetricReader
) -> list[Callable[[], None]]:
    """Make these the process's providers; returns what ends them."""
    resource = _resource(service)
    tracing = TracerProvider(resource=resource, span_limits=LIMITS, shutdown_on_exit=False)
    tracing.add_span_processor(BatchSpanProcessor(ContentFree(spans)))
    metering = MeterProvider(
        [measurements], resource=resource, shutdown_on_exit=False, views=[WITHOUT_SIZES]
    )
    trace.set_tracer_provider(tracing)
    metrics.set_meter_provider(metering)
    _instrument()
    return [tracing.shutdown, metering.shutdown]


def _resource(service: str) -> Resource:
    """`service.instance.id` is the SDK's: it makes another one in each forked process."""
    return Resource.create(
        {
            SERVICE_NAME: os.environ.get("OTEL_SERVICE_NAME", "contextd"),
            SERVICE_VERSION: contextd.__version__,
            "contextd.process": service,
        }
    )


def _instrument() -> None:
    # The stable names of HTTP and database attributes instead of those of 2021.
    os.environ.setdefault("OTEL_SEMCONV_STABILITY_OPT_IN", "http,database")
    for instrumentor in INSTRUMENTORS:
        instrumentor().instrument()

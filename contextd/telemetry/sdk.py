"""OpenTelemetry's providers and instrumentations, as contextd uses them."""

import os
from collections.abc import Callable

from opentelemetry import metrics, trace
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.instrumentation.django import DjangoInstrumentor
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

import contextd
from contextd.telemetry import requests
from contextd.telemetry.privacy import ContentFree

LIMITS = SpanLimits(max_span_attribute_length=2000)


def install(
    service: str, spans: SpanExporter, measurements: MetricReader
) -> list[Callable[[], None]]:
    """Make these the process's providers; return a function that ends them."""
    resource = _resource(service)
    tracing = TracerProvider(resource=resource, span_limits=LIMITS, shutdown_on_exit=False)
    tracing.add_span_processor(BatchSpanProcessor(ContentFree(spans)))
    metering = MeterProvider([measurements], resource=resource, shutdown_on_exit=False)
    trace.set_tracer_provider(tracing)
    metrics.set_meter_provider(metering)
    _instrument()
    return [tracing.shutdown, metering.shutdown]


def _resource(service: str) -> Resource:
    """Describe the process. The SDK adds `service.instance.id`, a new one after each fork."""
    return Resource.create(
        {
            SERVICE_NAME: os.environ.get("OTEL_SERVICE_NAME", "contextd"),
            SERVICE_VERSION: contextd.__version__,
            "contextd.process": service,
        }
    )


def _instrument() -> None:
    # Use the stable names of HTTP and database attributes, not those of 2021.
    os.environ.setdefault("OTEL_SEMCONV_STABILITY_OPT_IN", "http,database")
    DjangoInstrumentor().instrument(
        meter_provider=NoOpMeterProvider(), response_hook=requests.note_route
    )
    PsycopgInstrumentor().instrument()
    CeleryInstrumentor().instrument()  # type: ignore[no-untyped-call]  # it has no annotations

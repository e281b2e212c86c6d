"""Start and end of a process's telemetry."""

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricReader
    from opentelemetry.sdk.trace.export import SpanExporter

FLUSH_SECONDS = 5.0

logger = logging.getLogger(__name__)

_started = threading.Event()
_shutdowns: list[Callable[[], None]] = []


def is_on() -> bool:
    return _started.is_set()


def set_up(service: str) -> None:
    """Send telemetry to the collector of the settings, if there is one.

    Call it once per process, before the first connection and before Django's handler is created.
    `service` names the kind of process: web, worker, stdio or the name of a command.
    """
    if settings.ENVIRONMENT.otlp_endpoint:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

        start(service, OTLPSpanExporter(), PeriodicExportingMetricReader(OTLPMetricExporter()))


def start(service: str, spans: "SpanExporter", measurements: "MetricReader") -> None:
    """Start recording; a second call does nothing, as OpenTelemetry starts only once."""
    if is_on():
        return
    # Loading takes 0.2 s, which processes without a collector avoid.
    from contextd.telemetry import sdk

    _started.set()
    _shutdowns.extend(sdk.install(service, spans, measurements))


def shut_down() -> None:
    """Send what has been recorded, for at most five seconds, then stop."""
    threads = [threading.Thread(target=end, daemon=True) for end in _shutdowns]
    _shutdowns.clear()
    deadline = time.monotonic() + FLUSH_SECONDS
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    if any(thread.is_alive() for thread in threads):
        logger.warning("the telemetry collector does not answer; the last records are lost")

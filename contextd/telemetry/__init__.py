"""What contextd sends to an OpenTelemetry collector; it never contains what users wrote.

The pipeline opens `operation_span`; everything else about an operation is recorded when
`operation_finished` is sent. Without `OTEL_EXPORTER_OTLP_ENDPOINT` none of it has any effect.
"""

from contextd.telemetry.measures import (
    counting_sessions,
    operation_span,
    running_operation,
    timed,
)
from contextd.telemetry.process import set_up, shut_down
from contextd.telemetry.requests import http_middleware

__all__ = [
    "counting_sessions",
    "http_middleware",
    "operation_span",
    "running_operation",
    "set_up",
    "shut_down",
    "timed",
]

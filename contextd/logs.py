"""Formats log records as lines on stderr."""

import json
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

from django.core.cache.backends.locmem import LocMemCache
from opentelemetry import trace

from contextd import redaction, telemetry

MAX_MESSAGE_LENGTH = 20_000
READY_PATH = "/readyz"
SELDOM_SECONDS = 60
CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_recent_warnings = LocMemCache("seldom-told", {"TIMEOUT": SELDOM_SECONDS})


def warn_seldom(logger: logging.Logger, message: str) -> None:
    """Log a warning once in a while, though each call repeats it while another server is down."""
    if _recent_warnings.add(logger.name, message):
        logger.warning(message)


def formatter() -> logging.Formatter:
    """Return the formatter of `settings.LOGGING`: JSON for machines, plain lines for a terminal."""
    return LineFormatter() if sys.stderr.isatty() else JsonFormatter()


class WorthReading(logging.Filter):
    """Drops what libraries log at the root logger, and that a starting server is not ready."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "root":
            return record.levelno >= logging.WARNING
        request = getattr(record, "request", None)
        return getattr(request, "path", "") != READY_PATH


class JsonFormatter(logging.Formatter):
    """Writes one JSON object per line, with the ids of the running span and operation."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(self._fields(record))

    def _fields(self, record: logging.LogRecord) -> dict[str, str]:
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
        }
        try:
            return entry | self._content(record) | _place()
        # A log record must never make a call fail, whatever it contains.
        except Exception as error:
            problem = f"{record.pathname}:{record.lineno} cannot be logged: {type(error).__name__}"
            return entry | {"message": problem}

    def _content(self, record: logging.LogRecord) -> dict[str, str]:
        content = {"message": _fit_to_log(record.getMessage())}
        if record.exc_info:
            content["exception"] = _fit_to_log(self.formatException(record.exc_info))
        return content


class LineFormatter(JsonFormatter):
    """Writes the same for a terminal: one line, then the stack trace if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        fields = self._fields(record)
        time, level, logger, message, exception = (
            fields.pop(name, "") for name in ("time", "level", "logger", "message", "exception")
        )
        place = " ".join(f"{name}={value}" for name, value in fields.items())
        line = f"{time[11:19]} {level:<7} {logger}: {message}" + (f"  [{place}]" if place else "")
        text = f"{line}\n{exception}" if exception else line
        return CONTROL_CHARACTERS.sub(lambda found: repr(found[0])[1:-1], text)


_request_id: ContextVar[str | int | None] = ContextVar("request_id", default=None)


@contextmanager
def about_request(request_id: str | int | None) -> Iterator[None]:
    """Add the client's id of the request to everything that the block logs."""
    token = _request_id.set(request_id)
    try:
        yield
    finally:
        _request_id.reset(token)


def _place() -> dict[str, str]:
    """Return the current request, span and operation."""
    place: dict[str, str] = {}
    if (request_id := _request_id.get()) is not None:
        place["req_id"] = str(request_id)[:64]
    span = trace.get_current_span().get_span_context()
    if span.is_valid:
        place["trace_id"] = trace.format_trace_id(span.trace_id)
        place["span_id"] = trace.format_span_id(span.span_id)
    if running := telemetry.running_operation():
        caller = running.caller
        place |= {
            "tool": running.tool,
            "context": caller.context,
            "session": caller.connection,
            "caller": caller.principal,
        }
    return place


def _fit_to_log(text: str) -> str:
    """Redact and shorten; cut twice, so that no credential is halved before it is recognised."""
    return _shortened(
        redaction.redact(_shortened(text, 4 * MAX_MESSAGE_LENGTH)).text, MAX_MESSAGE_LENGTH
    )


def _shortened(text: str, length: int) -> str:
    """Return the beginning and the end, where a stack trace says what happened."""
    if len(text) <= length:
        return text
    half = length // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters ...]\n{text[-half:]}"

"""Log lines: what they say, and that nothing can make them say too much or fail."""

import io
import json
import logging
import logging.config
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from contextd import logs, operations, telemetry
from contextd.callers import Caller

PASSWORD = "postgresql://app:s3cretpass@db/shop"
HIDDEN = "postgresql://app:[REDACTED:url-password]@db/shop"

logger = logging.getLogger("tests.logs")


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What the logger writes, through the formatter of the settings."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.JsonFormatter())
    logger.addHandler(handler)
    yield stream
    logger.removeHandler(handler)


def entry(written: io.StringIO) -> dict[str, str]:
    (line,) = written.getvalue().splitlines()
    found: dict[str, str] = json.loads(line)
    return found


def as_json(message: Any, *args: Any) -> dict[str, str]:
    record = logging.LogRecord("tests", logging.INFO, __file__, 1, message, args, None)
    found: dict[str, str] = json.loads(logs.JsonFormatter().format(record))
    return found


def test_the_settings_log_with_these_formatters() -> None:
    configuration: dict[str, Any] = settings.LOGGING
    chosen = logging.config.DictConfigurator(configuration).configure_formatter(
        dict(configuration["formatters"]["structured"])
    )
    assert isinstance(chosen, logs.JsonFormatter)


def test_a_line_is_one_object_with_utc_time_level_logger_and_message(written: io.StringIO) -> None:
    logger.warning("%s is\nslow", "Redis")

    line = entry(written)
    assert line.pop("time").endswith("+00:00")
    assert line == {"level": "WARNING", "logger": "tests.logs", "message": "Redis is\nslow"}


def test_a_line_names_the_running_operation_and_its_span(
    written: io.StringIO, caller: Caller
) -> None:
    tracer = TracerProvider().get_tracer("tests")
    with (
        telemetry.operation_span(operations.get("status"), caller),
        tracer.start_as_current_span("inner") as span,
    ):
        logger.warning("here")

    line, ids = entry(written), span.get_span_context()
    assert (line["tool"], line["context"], line["session"], line["caller"]) == (
        *("status", "default", "test"),
        caller.principal,
    )
    assert line["trace_id"] == trace.format_trace_id(ids.trace_id)
    assert line["span_id"] == trace.format_span_id(ids.span_id)


def test_a_line_after_the_operation_does_not_name_it(written: io.StringIO, caller: Caller) -> None:
    with telemetry.operation_span(operations.get("status"), caller):
        pass
    logger.warning("there")

    assert "tool" not in entry(written)


def test_an_exception_is_logged_with_its_whole_stack_and_no_credential(
    written: io.StringIO,
) -> None:
    try:
        try:
            raise KeyError(PASSWORD)
        except KeyError as error:
            raise RuntimeError(f"cannot reach {PASSWORD}") from error
    except RuntimeError:
        logger.exception("lost %s", PASSWORD)

    line = entry(written)
    assert line["message"] == f"lost {HIDDEN}"
    assert f"KeyError: '{HIDDEN}'" in line["exception"]
    assert "direct cause of the following exception" in line["exception"]
    assert line["exception"].endswith(f"RuntimeError: cannot reach {HIDDEN}")
    assert "s3cretpass" not in written.getvalue()


def test_a_long_message_keeps_its_beginning_and_its_end() -> None:
    message = as_json(f"begin {'x' * 1_000_000} end")["message"]

    assert message.startswith("begin x")
    assert message.endswith("x end")
    assert len(message) < logs.MAX_MESSAGE_LENGTH + 100


@pytest.mark.parametrize(
    "padding", [logs.MAX_MESSAGE_LENGTH // 2 - 24, 2 * logs.MAX_MESSAGE_LENGTH - 24]
)
def test_no_credential_escapes_where_a_message_is_cut(padding: int) -> None:
    message = as_json(f"{' ' * padding}{PASSWORD}{' ' * 1_000_000}")["message"]

    assert "s3cret" not in message


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("message", "args"), [("%s and %s", ("one",)), ("%d", ("x",)), (Unprintable(), ())]
)
def test_a_record_that_cannot_be_formatted_says_where_it_is_made(
    message: Any, args: tuple[Any, ...]
) -> None:
    assert as_json(message, *args)["message"].startswith(f"{__file__}:1 cannot be logged")


@given(st.text(st.characters(), max_size=200))
def test_any_text_is_one_line_of_json(text: str) -> None:
    record = logging.LogRecord("tests", logging.INFO, __file__, 1, text, (), None)
    line = logs.JsonFormatter().format(record)

    assert len(line.splitlines()) == 1
    assert line.isascii()
    assert json.loads(line)["level"] == "INFO"


def test_a_terminal_gets_plain_lines_without_control_characters(
    monkeypatch: pytest.MonkeyPatch, caller: Caller
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    record = logging.LogRecord("tests", logging.INFO, __file__, 1, "red \x1b[31m", (), None)
    with telemetry.operation_span(operations.get("status"), caller):
        line = logs.formatter().format(record)

    assert line[8:].startswith(r" INFO    tests: red \x1b[31m  [")
    assert line.endswith("tool=status context=default session=test caller=tester]")


def test_a_terminal_gets_the_stack_below_the_line() -> None:
    try:
        raise ValueError("boom")
    except ValueError:
        record = logging.LogRecord("tests", logging.ERROR, __file__, 1, "lost", (), sys.exc_info())

    first, *stack = logs.LineFormatter().format(record).splitlines()
    assert first.endswith("ERROR   tests: lost")
    assert stack[0] == "Traceback (most recent call last):"
    assert stack[-1] == "ValueError: boom"


@pytest.mark.parametrize(
    ("logger", "level", "path", "is_kept"),
    [
        ("root", logging.INFO, "", False),
        ("root", logging.WARNING, "", True),
        ("django.request", logging.ERROR, "/readyz", False),
        ("django.request", logging.ERROR, "/api/v1/status", True),
        ("contextd.pipeline", logging.INFO, "", True),
    ],
)
def test_noise_is_left_out(logger: str, level: int, path: str, is_kept: bool) -> None:
    record = logging.LogRecord(logger, level, "file.py", 1, "message", None, None)
    record.request = RequestFactory().get(path or "/")

    assert logs.WorthReading().filter(record) is is_kept

"""Output schemas are somebody else's: none may hold up anybody."""

import asyncio
import time
from typing import Any

import pytest

from gateway.supervision import results

SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}}
DEEP = 40


def problem_of(structured: Any, schema: dict[str, Any]) -> str | None:
    result = {"content": [], "structuredContent": structured}
    return asyncio.run(results.problem_of(results.CALL, result, schema))


def doubling() -> dict[str, Any]:
    """Evaluated as it says, that is 2 to the 40th steps."""
    parts: dict[str, Any] = {
        f"a{number}": {"allOf": [{"$ref": f"#/$defs/a{number + 1}"}] * 2} for number in range(DEEP)
    }
    return {"type": "object", "$ref": "#/$defs/a0", "$defs": {**parts, f"a{DEEP}": {}}}


def test_what_does_not_fit_is_told() -> None:
    assert problem_of({"sum": 1}, SUM) is None
    assert problem_of({"sum": "many"}, SUM) == "sum: 'many' is not of type 'integer'"
    assert problem_of({}, {"type": "none"}) == "its output schema cannot be used"


def test_a_schema_that_takes_for_ever_is_given_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(results, "CHECK_TIMEOUT_SECONDS", 0.1)

    assert problem_of({"a": 1}, doubling()) is None
    assert "passed on unchecked" in caplog.text


def test_nothing_is_compared_with_everything() -> None:
    alike = {"a": [[number] for number in range(20_000)]}
    schema = {"type": "object", "properties": {"a": {"uniqueItems": True}}}
    began = time.monotonic()

    assert problem_of(alike, schema) is None
    assert time.monotonic() - began < results.CHECK_TIMEOUT_SECONDS

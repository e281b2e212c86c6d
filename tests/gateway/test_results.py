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


def closed(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object with these properties and no other, as zod writes it."""
    required = list(properties)
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def test_what_does_not_fit_is_told() -> None:
    assert problem_of({"sum": 1}, SUM) is None
    assert problem_of({"sum": "many"}, SUM) == "sum: 'many' is not of type 'integer'"


@pytest.mark.parametrize(
    "name", ["format", "pattern", "uniqueItems", "patternProperties", "$schema"]
)
def test_properties_may_be_named_like_keywords(name: str) -> None:
    schema = closed(**{name: {"type": "string"}}, size={"type": "integer"})

    assert problem_of({name: "png", "size": 3}, schema) is None
    assert problem_of({name: 1, "size": 3}, schema) == f"{name}: 1 is not of type 'string'"


@pytest.mark.parametrize(
    "part",
    [
        {"$ref": "#/$defs/pattern"},
        {"const": {"format": "x"}},
        {"enum": [{"format": "x"}]},
        {"dependentRequired": {"format": ["format"]}},
        {"dependentSchemas": {"format": {"required": ["format"]}}},
    ],
)
def test_names_and_values_like_keywords_are_kept(part: dict[str, Any]) -> None:
    schema = {**closed(a=part), "$defs": {"pattern": {"required": ["format"]}}}

    assert problem_of({"a": {"format": "x"}}, schema) is None


@pytest.mark.parametrize("rest", ["additionalProperties", "unevaluatedProperties"])
def test_patterns_are_not_evaluated_nor_what_depends_on_them(rest: str) -> None:
    hostile = "^(x+)+$"
    schema = {"type": "object", "patternProperties": {hostile: {"type": "integer"}}, rest: False}
    wrapped = {"type": "object", "allOf": [schema], rest: False}

    assert problem_of({"x" * 40 + "!": 1}, schema) is None
    assert problem_of({"x" * 40 + "!": 1}, wrapped) is None


def test_a_schema_is_read_in_the_dialect_that_it_names() -> None:
    pair = {"type": "array", "items": [{"type": "integer"}, {"type": "string"}]}
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", **closed(a=pair)}

    assert problem_of({"a": [1, "x"]}, schema) is None
    assert problem_of({"a": [1, 2]}, schema) == "a.1: 2 is not of type 'string'"


def test_a_part_that_names_another_dialect_is_watched_too() -> None:
    other = {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "^(x+)+$"}

    assert problem_of({"a": "x" * 40 + "!"}, closed(a=other)) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "none"},
        closed(a={"type": "array", "items": [{"type": "integer"}]}),
        closed(a={"$ref": "#/$defs/nowhere"}),
        closed(a={"$ref": "https://example.com/schema"}),
        {"$schema": "urn:unknown", "type": "none"},
        {**closed(a={"type": "none"}), "patternProperties": {}},
        {**closed(a={"$ref": "#/x"}), "x": {"type": "none"}},
        {**closed(a={"$ref": "#/x"}), "x": {"contains": 5}},
    ],
)
def test_a_schema_that_cannot_be_used_leaves_the_result_unchecked(schema: dict[str, Any]) -> None:
    with pytest.raises(results.Unchecked, match="its output schema cannot be used: "):
        problem_of({"a": [1]}, schema)


def test_a_schema_that_takes_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "CHECK_TIMEOUT_SECONDS", 0.1)
    links: dict[str, Any] = {
        f"a{number}": {
            "dependentSchemas": {key: {"$ref": f"#/$defs/a{number + 1}"} for key in "ab"}
        }
        for number in range(DEEP)
    }
    searched = {
        "type": "object",
        "$ref": "#/$defs/a0",
        "$defs": {**links, f"a{DEEP}": {}},
        "unevaluatedProperties": False,
    }

    for schema in (doubling(), searched):
        with pytest.raises(results.Unchecked, match=r"takes more than 0\.1 s"):
            problem_of({"a": 1, "b": 1}, schema)


def test_nothing_is_compared_with_everything() -> None:
    alike = {"a": [[number] for number in range(20_000)]}
    schema = {"type": "object", "properties": {"a": {"uniqueItems": True}}}
    began = time.monotonic()

    assert problem_of(alike, schema) is None
    assert time.monotonic() - began < results.CHECK_TIMEOUT_SECONDS

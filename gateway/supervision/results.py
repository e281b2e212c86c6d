"""Check that a result has the right form and matches the tool's output schema."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import Any

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import SchemaError, best_match
from mcp.types import CallToolResult, GetPromptResult, ReadResourceResult
from pydantic import BaseModel, TypeAdapter, ValidationError
from referencing import Registry

from gateway import pinning

CALL = "tools/call"
RESULT_FORMS: Mapping[str, type[BaseModel]] = {
    CALL: CallToolResult,
    "prompts/get": GetPromptResult,
    "resources/read": ReadResourceResult,
}
MAX_PROBLEM_CHARACTERS = 300
CHECK_TIMEOUT_SECONDS = 2
# Each is one uninterruptible step of unbounded time: a foreign regular expression, or a comparison
# of all pairs.
_NOT_EVALUATED = frozenset({"pattern", "patternProperties", "format", "uniqueItems"})
# These evaluate the regular expressions of patternProperties themselves.
_REST_OF_PROPERTIES = frozenset({"additionalProperties", "unevaluatedProperties"})

Keyword = Callable[[Any, Any, Any, Any], Iterable[Any] | None]

_threads = ThreadPoolExecutor(2, thread_name_prefix="output-schema")
_clock = threading.local()


class _Question(BaseModel):
    method: str
    params: dict[str, Any] | None = None


_QUESTIONS: TypeAdapter[dict[str, _Question]] = TypeAdapter(dict[str, _Question])


class Unchecked(Exception):
    """Raised for a result that cannot be checked because of its schema; the message says why."""


def output_schemas_of(tools: Iterable[Any]) -> dict[str, Any]:
    """Return the output schemas by tool name."""
    return {
        str(tool.get("name")): tool["outputSchema"]
        for tool in tools
        if isinstance(tool, dict) and isinstance(tool.get("outputSchema"), dict)
    }


def problem_of_questions(questions: Any) -> str | None:
    """Return the problem of a result's `inputRequests` in one line, or None."""
    try:
        _QUESTIONS.validate_python(questions)
    except ValidationError as error:
        return f"inputRequests: {first_problem(error)}"
    return None


def first_problem(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else first["msg"]


async def problem_of(method: str, result: Any, schema: Mapping[str, Any] | None) -> str | None:
    """Return the problem in one line, or None. Raises Unchecked."""
    try:
        parsed = RESULT_FORMS[method].model_validate(result, by_name=False)
    except ValidationError as error:
        return first_problem(error)
    if schema is None or not isinstance(parsed, CallToolResult) or parsed.is_error:
        return None
    if parsed.structured_content is None:
        return "it has an output schema, and structuredContent is missing"
    check = partial(
        problem_in_time, parsed.structured_content, schema, time.monotonic() + CHECK_TIMEOUT_SECONDS
    )
    return await asyncio.get_running_loop().run_in_executor(_threads, check)


def problem_in_time(structured: Any, schema: Mapping[str, Any], until: float) -> str | None:
    """Return the problem. Raises Unchecked if the schema cannot be used or takes too long."""
    _clock.until = until
    try:
        validator = _validator(pinning.canonical_json(dict(schema)))
        error = best_match(validator.iter_errors(structured))
    except Unchecked:
        raise
    except Exception as problem:  # a foreign schema can make the library raise anything
        reason = str(problem).partition("\n")[0][:MAX_PROBLEM_CHARACTERS]
        raise Unchecked(f"its output schema cannot be used: {reason}") from None
    if error is None:
        return None
    place = ".".join(map(str, error.absolute_path)) or "structuredContent"
    return f"{place}: {error.message}"[:MAX_PROBLEM_CHARACTERS]


def time_limited(keyword: Keyword) -> Keyword:
    """Return the keyword with a check of the time limit. Raises Unchecked."""

    def evaluate(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        check_time_limit()
        for error in keyword(validator, value, instance, schema) or ():
            check_time_limit()
            yield error

    return evaluate


def accept_any(validator: Any, value: Any, instance: Any, schema: Any) -> None:
    """Accept any value, for keywords that are not evaluated here or in the metaschema."""


def check_time_limit() -> None:
    if time.monotonic() > _clock.until:
        raise Unchecked(f"its output schema takes more than {CHECK_TIMEOUT_SECONDS:g} s")


@lru_cache
def time_limited_dialect(dialect: Any, not_evaluated: frozenset[str]) -> Any:
    """Return a validator class of the dialect that keeps to the time limit."""
    keywords = {
        name: accept_any if name in not_evaluated else time_limited(keyword)
        for name, keyword in dialect.VALIDATORS.items()
    }
    extended = validators.extend(dialect, keywords)
    evolve = extended.evolve

    def evolve_in_time(self: Any, **changes: Any) -> Any:
        check_time_limit()
        schema = changes.get("schema")
        if (
            isinstance(schema, dict) and "$schema" in schema
        ):  # a part in another dialect would not be watched
            changes["schema"] = {key: part for key, part in schema.items() if key != "$schema"}
        return evolve(self, **changes)

    extended.evolve = evolve_in_time
    return extended


@lru_cache(500)
def _validator(text: str) -> Any:
    schema = json.loads(text)
    dialect = validators.validator_for(schema, default=Draft202012Validator)
    checking = time_limited_dialect(dialect, _NOT_EVALUATED)
    for error in checking(checking.META_SCHEMA).iter_errors(schema):
        raise SchemaError.create_from(error)
    if '"patternProperties"' in text:
        checking = time_limited_dialect(dialect, _NOT_EVALUATED | _REST_OF_PROPERTIES)
    # An empty registry: no reference is fetched from anywhere.
    return checking(schema, registry=Registry())

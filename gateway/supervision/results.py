"""Check that a result has the right form and matches the tool's output schema."""

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import Any

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import SchemaError, best_match
from mcp.types import CallToolResult, GetPromptResult, ReadResourceResult
from pydantic import BaseModel, ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable

from gateway import pinning

CALL = "tools/call"
KINDS: Mapping[str, type[BaseModel]] = {
    CALL: CallToolResult,
    "prompts/get": GetPromptResult,
    "resources/read": ReadResourceResult,
}
MAX_PROBLEM_CHARACTERS = 300
CHECK_TIMEOUT_SECONDS = 2
# Each is one uninterruptible step of unbounded time: a foreign regular expression, or a comparison
# of all pairs.
_NOT_EVALUATED = {"pattern", "patternProperties", "format", "uniqueItems"}

Keyword = Callable[[Any, Any, Any, Any], Iterable[Any] | None]

logger = logging.getLogger(__name__)
_threads = ThreadPoolExecutor(2, thread_name_prefix="output-schema")
_clock = threading.local()


class OutOfTime(Exception):
    """Raised when the evaluation of a schema takes too long."""


def promised(tools: Iterable[Any]) -> dict[str, Any]:
    """Return the output schemas by tool name."""
    return {
        str(tool.get("name")): tool["outputSchema"]
        for tool in tools
        if isinstance(tool, dict) and isinstance(tool.get("outputSchema"), dict)
    }


async def problem_of(method: str, result: Any, schema: Mapping[str, Any] | None) -> str | None:
    """Return the problem in one line, or None."""
    try:
        parsed = KINDS[method].model_validate(result, by_name=False)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    if schema is None or not isinstance(parsed, CallToolResult) or parsed.is_error:
        return None
    if parsed.structured_content is None:
        return "it has an output schema, and structuredContent is missing"
    check = partial(
        problem_in_time, parsed.structured_content, schema, time.monotonic() + CHECK_TIMEOUT_SECONDS
    )
    return await asyncio.get_running_loop().run_in_executor(_threads, check)


def problem_in_time(structured: Any, schema: Mapping[str, Any], until: float) -> str | None:
    """Return the problem; None too if the foreign schema takes longer than allowed."""
    _clock.until = until
    try:
        return problem_of_structure(structured, schema)
    except OutOfTime:
        logger.warning(
            "a result is passed on unchecked: its schema takes more than %g s",
            CHECK_TIMEOUT_SECONDS,
        )
        return None


def problem_of_structure(structured: Any, schema: Mapping[str, Any]) -> str | None:
    try:
        validator = _validator(pinning.canonical_json(dict(schema)))
        error = best_match(validator.iter_errors(structured))
    except (SchemaError, Unresolvable, RecursionError, ValueError):
        return "its output schema cannot be used"
    if error is None:
        return None
    place = ".".join(map(str, error.absolute_path)) or "structuredContent"
    return f"{place}: {error.message}"[:MAX_PROBLEM_CHARACTERS]


def watched(keyword: Keyword) -> Keyword:
    """Return the keyword with a check of the time limit. Raises OutOfTime."""

    def evaluate(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        look_at_clock()
        for error in keyword(validator, value, instance, schema) or ():
            look_at_clock()
            yield error

    return evaluate


def passed_over(validator: Any, value: Any, instance: Any, schema: Any) -> None:
    """Accept any value, for keywords that are not evaluated here or in the metaschema."""


def look_at_clock() -> None:
    if time.monotonic() > _clock.until:
        raise OutOfTime


Watched = validators.extend(
    Draft202012Validator,
    {
        name: passed_over if name in _NOT_EVALUATED else watched(keyword)
        for name, keyword in Draft202012Validator.VALIDATORS.items()
    },
)


@lru_cache(500)
def _validator(schema: str) -> Any:
    evaluated = without_patterns(json.loads(schema))
    for error in Watched(Watched.META_SCHEMA).iter_errors(evaluated):
        raise SchemaError.create_from(error)
    # An empty registry: no reference is fetched from anywhere.
    return Watched(evaluated, registry=Registry())


def without_patterns(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: without_patterns(part) for key, part in schema.items() if key not in _NOT_EVALUATED
        }
    return [without_patterns(part) for part in schema] if isinstance(schema, list) else schema

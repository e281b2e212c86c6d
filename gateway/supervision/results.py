"""Whether a result is what it should be: of its kind, and what a tool promised."""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator
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
LONGEST_PROBLEM = 300
# A regular expression of somebody else's may take for ever.
_NOT_EVALUATED = {"pattern", "patternProperties", "format"}


def promised(tools: Iterable[Any]) -> dict[str, Any]:
    """The output schemas by the names of their tools."""
    return {
        str(tool.get("name")): tool["outputSchema"]
        for tool in tools
        if isinstance(tool, dict) and isinstance(tool.get("outputSchema"), dict)
    }


def problem_of(method: str, result: Any, schema: Mapping[str, Any] | None) -> str | None:
    """What is wrong with it, in one line."""
    try:
        parsed = KINDS[method].model_validate(result, by_name=False)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    if schema is None or not isinstance(parsed, CallToolResult) or parsed.is_error:
        return None
    if parsed.structured_content is None:
        return "it has an output schema, and structuredContent is missing"
    return problem_of_structure(parsed.structured_content, schema)


def problem_of_structure(structured: Any, schema: Mapping[str, Any]) -> str | None:
    try:
        validator = _validator(pinning.canonical_json(dict(schema)))
        error = best_match(validator.iter_errors(structured))
    except (SchemaError, Unresolvable, RecursionError):
        return "its output schema cannot be used"
    if error is None:
        return None
    place = ".".join(map(str, error.absolute_path)) or "structuredContent"
    return f"{place}: {error.message}"[:LONGEST_PROBLEM]


@lru_cache(500)
def _validator(schema: str) -> Draft202012Validator:
    evaluated = without_patterns(json.loads(schema))
    Draft202012Validator.check_schema(evaluated)
    # An empty registry: no reference is fetched from anywhere.
    return Draft202012Validator(evaluated, registry=Registry())


def without_patterns(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: without_patterns(part) for key, part in schema.items() if key not in _NOT_EVALUATED
        }
    return [without_patterns(part) for part in schema] if isinstance(schema, list) else schema

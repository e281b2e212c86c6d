"""Adapt the OpenAPI document of the dashboard."""

from typing import Any

PREFIX = "/api/dashboard/"
FAILURES = {
    "400": "A parameter is invalid; the error names it.",
    "401": "A required credential is missing, or it is not valid.",
    "403": "The context does not include `analytics_get`, or you may not use it.",
    "404": "Not found.",
    "406": "The requested format is not available.",
    "429": "Too many requests; `Retry-After` says how long to wait.",
}
FAILURE = {
    "type": "object",
    "properties": {
        "category": {"type": "string"},
        "message": {"type": "string"},
        "details": {"type": "object", "additionalProperties": True},
    },
    "required": ["category", "message", "details"],
}

Endpoint = tuple[str, str, str, Any]


def only_ours(endpoints: list[Endpoint]) -> list[Endpoint]:
    return [one for one in endpoints if one[0].startswith(PREFIX)]


def with_failures(result: dict[str, Any], **generation: Any) -> dict[str, Any]:
    """Document the common error format on every endpoint."""
    result["components"]["schemas"]["Failure"] = FAILURE
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}}
    for methods in result["paths"].values():
        for operation in methods.values():
            for status, meaning in FAILURES.items():
                told = {"description": meaning, "content": content}
                operation["responses"].setdefault(status, told)
    return result

"""What the OpenAPI document of the dashboard tells of."""

from typing import Any

PREFIX = "/api/dashboard/"
FAILURES = {
    "400": "A parameter breaks its rule; it is named.",
    "401": "The credential is missing where one is needed, or it is not valid.",
    "403": "The context does not hold `analytics_get`, or is not for you.",
    "404": "There is no such thing.",
    "406": "It cannot be had in that form.",
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
    """Failures have one shape, whatever was asked."""
    result["components"]["schemas"]["Failure"] = FAILURE
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}}
    for methods in result["paths"].values():
        for operation in methods.values():
            for status, meaning in FAILURES.items():
                told = {"description": meaning, "content": content}
                operation["responses"].setdefault(status, told)
    return result

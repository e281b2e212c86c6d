"""`manage.py check` refuses an operation whose contract is incomplete."""

from collections.abc import Iterator
from typing import Any

from django.core.checks import CheckMessage, Error, register

from contextd import operations
from contextd.operations import Operation, Written
from contextd.rates import MAX_PERIOD_SECONDS

MAX_TIMEOUT_SECONDS = 300
BOUNDS_OF_TEXT = {"maxLength", "format", "enum", "const"}


@register("operations")
def check_operations(**kwargs: Any) -> list[CheckMessage]:
    return [
        Error(problem, obj=operation.name, id="contextd.E001")
        for operation in operations.installed()
        for problem in problems_of(operation)
    ]


def problems_of(operation: Operation) -> Iterator[str]:
    if not operation.description:
        yield "its request has no docstring"
    if not 0 < operation.timeout <= MAX_TIMEOUT_SECONDS:
        yield f"its timeout is not within {MAX_TIMEOUT_SECONDS} s"
    if operation.rate.per_second * MAX_PERIOD_SECONDS < 1 or operation.rate.burst < 1:
        yield "its rate allows less than one call an hour, which the limiter cannot count"
    if operation.effect == "write" and not issubclass(operation.result, Written):
        yield "it writes, so its result must be a Written"
    for name, schema in operation.request.model_json_schema().get("properties", {}).items():
        yield from problems_of_field(name, schema)


def problems_of_field(name: str, schema: dict[str, Any]) -> Iterator[str]:
    if "description" not in schema:
        yield f"{name} has no description"
    for option in schema.get("anyOf", [schema]):
        if option.get("type") == "string" and not BOUNDS_OF_TEXT & option.keys():
            yield f"{name} is text without max_length"
        if option.get("type") == "array" and "maxItems" not in option:
            yield f"{name} is a list without max_length"

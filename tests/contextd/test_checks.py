"""`manage.py check` refuses operations that callers could not use well."""

from typing import Annotated, Any

from pydantic import Field

from contextd import checks, operations
from contextd.callers import Caller
from contextd.operations import Operation, Rate, Request, Result


class Careless(Request):
    text: str
    names: Annotated[list[str], Field(description="without a bound")]


def handler(caller: Caller, request: Careless) -> Result:
    return Result()


def test_every_installed_operation_is_complete() -> None:
    assert checks.check_operations() == []
    assert len(operations.installed()) >= 8


def test_each_missing_part_is_named(declared: dict[str, Operation]) -> None:
    declared.clear()
    declared["careless"] = Operation(
        name="careless",
        handler=handler,
        request=Careless,
        result=Result,
        effect="write",
        timeout=1000,
        rate=Rate(0.0001, 1),
        atomic=True,
    )

    problems: Any = [problem.msg for problem in checks.check_operations()]
    assert problems == [
        "its request has no docstring",
        "its timeout is not within 300 s",
        "its rate allows less than one call an hour, which the limiter cannot count",
        "it writes, so its result must be a Written",
        "text has no description",
        "text is text without max_length",
        "names is a list without max_length",
    ]

"""What a person can have said to the assistant: declared in apps' `prompts.py`."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, get_type_hints

from contextd.callers import Caller
from contextd.errors import NotFound
from contextd.operations import Operation, Request, Result


class PromptText(Result):
    text: str


P = TypeVar("P", bound=Callable[[Caller, Any], str])

_registry: dict[str, Operation] = {}


def prompt(name: str, *, timeout: float = 5) -> Callable[[P], P]:
    """Register the decorated function, which returns what the person says.

    The fields of its request are the arguments; their type must be one that text can become.
    """

    def register(write: P) -> P:
        if name in _registry:
            raise RuntimeError(f"prompt {name!r} is declared twice")

        @wraps(write)
        def handler(caller: Caller, request: Request) -> PromptText:
            return PromptText(text=write(caller, request))

        _registry[name] = Operation(
            name=name,
            handler=handler,
            request=get_type_hints(write)["request"],
            result=PromptText,
            effect="read",
            timeout=timeout,
            rate=Operation.DEFAULT_RATE,
            atomic=False,
            kind="prompt",
        )
        return write

    return register


def installed() -> list[Operation]:
    return sorted(_registry.values(), key=lambda one: one.name)


def get(name: str) -> Operation:
    if name not in _registry:
        raise NotFound(f"there is no prompt named {name[:200]!r}")
    return _registry[name]

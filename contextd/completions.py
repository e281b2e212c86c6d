"""Completions of arguments; each argument name has one registered completer."""

from collections.abc import Callable
from dataclasses import dataclass

from contextd.callers import Caller

MAX_VALUES = 100
MAX_TYPED_LENGTH = 1000

Completer = Callable[[Caller, str], list[str]]


@dataclass(frozen=True, slots=True)
class Completion:
    """The best values, and the total number of values."""

    values: list[str]
    total: int


_completers: dict[str, Completer] = {}


def completer(argument: str) -> Callable[[Completer], Completer]:
    """Register the function that returns the values of arguments with that name, best first."""

    def register(complete: Completer) -> Completer:
        _completers[argument] = complete
        return complete

    return register


def complete(caller: Caller, argument: str, typed: str) -> Completion:
    """Return the completions, which are empty without a completer for the argument."""
    known = _completers.get(argument)
    values = known(caller, typed[:MAX_TYPED_LENGTH]) if known else []
    return Completion(values[:MAX_VALUES], len(values))

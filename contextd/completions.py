"""What an argument that is being typed may become; declared once for each name of an argument."""

from collections.abc import Callable
from dataclasses import dataclass

from contextd.callers import Caller

MAX_VALUES = 100
MAX_TYPED_LENGTH = 1000

Completer = Callable[[Caller, str], list[str]]


@dataclass(frozen=True, slots=True)
class Completion:
    """The best values, and how many there are in all."""

    values: list[str]
    total: int


_completers: dict[str, Completer] = {}


def completer(argument: str) -> Callable[[Completer], Completer]:
    """Register what knows the values of arguments of that name, the best first."""

    def register(complete: Completer) -> Completer:
        _completers[argument] = complete
        return complete

    return register


def complete(caller: Caller, argument: str, typed: str) -> Completion:
    """Nothing, where nobody knows."""
    known = _completers.get(argument)
    values = known(caller, typed[:MAX_TYPED_LENGTH]) if known else []
    return Completion(values[:MAX_VALUES], len(values))

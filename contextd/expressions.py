"""Regular expressions that people write; searches with them have a time limit."""

from functools import lru_cache
from math import prod
from typing import Any

import regex

from contextd import limits

MATCH_SECONDS = 0.5
"""Time limit of one search: some expressions would take hours for a long text."""
MAX_REPEATS = 10_000
MAX_REPEAT_DIGITS = 9
# In verbose mode, white space and comments may stand around and between the digits.
_REPEAT = regex.compile(r"\{((?:\d|\s|#[^\n]*(?:\n|\Z))++)")
_IGNORED_IN_REPEAT = regex.compile(r"\s|#[^\n]*")


def mistake_in(expression: str) -> str | None:
    """Return what is wrong with the expression, as the predicate of a sentence, or None."""
    copies = prod(max(1, _number_in(repeat)) for repeat in _REPEAT.findall(expression))
    if copies > MAX_REPEATS:  # compiling expands them all, which can exhaust memory
        return f"repeats its parts more than {MAX_REPEATS:,} times"
    try:
        regex.compile(expression)
    except regex.error as error:
        return f"is not a valid regular expression: {error}"
    except (RecursionError, MemoryError):
        return "is nested too deeply"
    return None


def _number_in(repeat: str) -> int:
    return int(_IGNORED_IN_REPEAT.sub("", repeat)[:MAX_REPEAT_DIGITS] or 1)


def finds(expression: str, text: str) -> bool:
    """Return whether the expression is in the text; `^` and `$` match at any line.

    Raise TimeoutError if the search takes too long. Other threads run in the meantime.
    """
    return compiled(expression).search(text, timeout=_seconds()) is not None


def count(expression: str, text: str) -> int:
    """Return how often the expression matches. Raise TimeoutError as `finds` does."""
    return sum(1 for _ in compiled(expression).finditer(text, timeout=_seconds()))


def _seconds() -> float:
    seconds = min(MATCH_SECONDS, limits.time_left())
    if not seconds:
        raise TimeoutError
    return seconds


@lru_cache(maxsize=5000)
def compiled(expression: str) -> Any:
    return regex.compile(expression, regex.MULTILINE)

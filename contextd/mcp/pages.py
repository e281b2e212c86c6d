"""Long lists, a page at a time: the cursor is where the next one begins."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from contextd.errors import Invalid
from contextd.validation import parse_digits

PAGE_SIZE = 500
MAX_CURSOR_DIGITS = 9

One = TypeVar("One")


class Paged(Protocol):
    cursor: str | None


def start_of(params: Paged | None) -> int:
    """Raises Invalid for a cursor that we did not give."""
    cursor = (params.cursor if params else None) or "0"
    start = parse_digits(cursor, MAX_CURSOR_DIGITS)
    if start is None:
        raise Invalid("cursor must be the nextCursor of an earlier answer", field="cursor")
    return start


def following(start: int, total: int, size: int = PAGE_SIZE) -> str | None:
    """The cursor of the page after the one that begins there."""
    return str(start + size) if start + size < total else None


def cut(whole: Sequence[One], params: Paged | None) -> tuple[Sequence[One], str | None]:
    """The page that is asked for, and the cursor of the next one."""
    start = start_of(params)
    return whole[start : start + PAGE_SIZE], following(start, len(whole))

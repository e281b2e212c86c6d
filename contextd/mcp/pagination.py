"""Pagination of long lists; a cursor is the offset of the next page."""

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
    """Return the offset in the cursor. Raise Invalid for a cursor issued elsewhere."""
    cursor = (params.cursor if params else None) or "0"
    start = parse_digits(cursor, MAX_CURSOR_DIGITS)
    if start is None:
        raise Invalid("cursor must be the nextCursor of an earlier answer", field="cursor")
    return start


def next_cursor(start: int, total: int, size: int = PAGE_SIZE) -> str | None:
    """Return the cursor of the page after the one that starts at `start`."""
    return str(start + size) if start + size < total else None


def cut(whole: Sequence[One], params: Paged | None) -> tuple[Sequence[One], str | None]:
    """Return the requested page and the cursor of the next one."""
    start = start_of(params)
    return whole[start : start + PAGE_SIZE], next_cursor(start, len(whole), PAGE_SIZE)

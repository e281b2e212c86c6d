"""CSV cells that spreadsheets could interpret as formulas."""

import json
from typing import Any

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
MARK = "'"
MARKED_STARTS = tuple(MARK + start for start in (*FORMULA_STARTS, MARK))


def cell_of(value: Any, **as_json: Any) -> Any:
    """Return plain values unchanged, others as JSON, with these options of `json.dumps`."""
    if value is None or isinstance(value, bool | int | float):
        return value
    return as_text(value if isinstance(value, str) else json.dumps(value, **as_json))


def as_text(cell: str) -> str:
    """Mark as text what could be a formula, and what already looks marked."""
    return MARK + cell if cell.startswith((*FORMULA_STARTS, *MARKED_STARTS)) else cell


def read(cell: str) -> str:
    """Return the original argument of `as_text`; unmarked text is returned unchanged."""
    is_marked = cell[:1] == MARK and as_text(cell[1:]) == cell
    return cell[1:] if is_marked else cell

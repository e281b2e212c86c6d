"""Cells of CSV files, which spreadsheets may take for formulas."""

import json
from typing import Any

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
MARK = "'"
MARKED_STARTS = tuple(MARK + start for start in (*FORMULA_STARTS, MARK))


def cell_of(value: Any, **as_json: Any) -> Any:
    """Plain values as they are, the others as JSON, written with these options of `json.dumps`."""
    if value is None or isinstance(value, bool | int | float):
        return value
    return as_text(value if isinstance(value, str) else json.dumps(value, **as_json))


def as_text(cell: str) -> str:
    """What would be taken for a formula is marked as text, and so is what looks marked."""
    return MARK + cell if cell.startswith((*FORMULA_STARTS, *MARKED_STARTS)) else cell


def read(cell: str) -> str:
    """What `as_text` was given; a text that nobody has marked is as it stands."""
    is_marked = cell[:1] == MARK and as_text(cell[1:]) == cell
    return cell[1:] if is_marked else cell

"""Cells of CSV files, which spreadsheets may take for formulas."""

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
MARK = "'"
MARKED_STARTS = tuple(MARK + start for start in (*FORMULA_STARTS, MARK))


def as_text(cell: str) -> str:
    """What would be taken for a formula is marked as text, and so is what looks marked."""
    return MARK + cell if cell.startswith((*FORMULA_STARTS, *MARKED_STARTS)) else cell


def read(cell: str) -> str:
    """What `as_text` was given; a text that nobody has marked is as it stands."""
    is_marked = cell[:1] == MARK and as_text(cell[1:]) == cell
    return cell[1:] if is_marked else cell

"""Cells of files that spreadsheets open."""

from hypothesis import given
from hypothesis import strategies as st

from contextd import spreadsheets


@given(st.text())
def test_no_cell_is_a_formula_and_none_is_changed(text: str) -> None:
    cell = spreadsheets.as_text(text)

    assert spreadsheets.read(cell) == text
    assert not cell.startswith(spreadsheets.FORMULA_STARTS)

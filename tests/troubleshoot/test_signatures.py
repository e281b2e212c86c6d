"""Signatures are found fast and exactly, and none can hold up a diagnosis."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from troubleshoot import signatures

TEXT = "app-1 | npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://registry.test/left-pad"


@pytest.mark.parametrize(
    ("expression", "needed"),
    [
        ("No space left", "No space left"),
        (r"code E\d+ at node", " at node"),
        (r"Blocked\. This host", "Blocked. This host"),
        (r"colou?r is wrong", "r is wrong"),
        (r"a|bcd", ""),
        (r"x(?:one|two)yz", "yz"),
        (r"(?i)no SPACE", ""),
        (r"ab{2}cdef", "cdef"),
        (r"[abc]def(?!ghij)", "def"),
    ],
)
def test_what_an_expression_needs_is_read_out_of_it(expression: str, needed: str) -> None:
    assert signatures.needed_by(expression) == needed


def test_the_longest_part_that_fits_is_told() -> None:
    known = signatures.compiled({1: ["E404", r"code E\d+"], 2: ["E500"]})

    assert signatures.found_in([TEXT], known) == {1: "code E404"}


@pytest.mark.parametrize("place", [0, 49_000])
def test_both_ends_of_a_long_text_are_searched(place: int) -> None:
    text = "-" * place + "code E404" + "-" * (50_000 - place)

    assert signatures.found_in([text], signatures.compiled({1: [r"code E\d+"]})) == {1: "code E404"}


def test_what_is_broken_is_left_out() -> None:
    assert signatures.compiled({1: ["(x", "y"]})[0].needed == "y"


def test_one_that_cannot_be_searched_for_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signatures, "MAX_SEARCH_SECONDS", 0.05)
    known = signatures.compiled({1: [r"(?:a+)+(?:a+)+(?:a+)+\d$"], 2: ["aaa"]})

    assert signatures.found_in(["a" * 5_000 + "!"], known) == {2: "aaa"}


@given(st.sampled_from(["a", "b.c", r"x\.y", "(p|q)r", "no?t", "k{2}", "[mn]o"]), st.text())
def test_what_an_expression_needs_is_in_all_it_fits(expression: str, text: str) -> None:
    signature = signatures.compiled({1: [expression]})[0]

    if signature.expression.search(text):
        assert signature.needed in text

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextd.search import terms

readable = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("getUserName", ["getusername", "get", "user", "name"]),
        ("snake_case", ["snake_case", "snake", "case"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("the caches are running", ["cach", "run"]),
        ("error E501", ["error", "e501", "501"]),
        ("Ünïcode Straße", ["unicod", "strass"]),
        ("Ошибка в_сети", ["ошибка", "в_сети", "сети"]),
        ("नमस्ते", ["नमस्ते"]),
        ("构建", ["构", "建", "构建"]),
        ("用React框架", ["用", "react", "框", "架", "框架"]),
        ("a" * 61 + "B", ["a" * 61 + "b"]),
        ("", []),
    ],
)
def test_a_text_is_found_by_these_words(text: str, found: list[str]) -> None:
    assert terms.terms(text) == found


@given(readable, readable)
def test_words_do_not_depend_on_what_stands_around_them(one: str, other: str) -> None:
    assert terms.terms(f"{one} {other}") == terms.terms(one) + terms.terms(other)


@given(st.dictionaries(readable, st.integers(1, 500), min_size=1, max_size=20))
def test_no_word_weighs_more_than_the_most(counts: dict[str, int]) -> None:
    for weight in terms.weights(counts).values():
        assert 0 <= weight <= terms.SATURATION + 1


def test_a_word_weighs_more_the_more_often_it_stands_and_the_shorter_the_passage() -> None:
    once, twice = terms.weights({"cache": 1, "x": 9}), terms.weights({"cache": 2, "x": 8})
    longer = terms.weights({"cache": 1, "x": 99})

    assert longer["cache"] < once["cache"] < twice["cache"]


def test_a_rare_word_counts_more_than_a_common_one_and_none_counts_less_than_nothing() -> None:
    assert terms.rarity(1000, 1) > terms.rarity(1000, 500) > terms.rarity(1000, 1000) > 0


def test_the_same_word_has_another_number_in_another_domain() -> None:
    assert terms.number("note", "cache") == terms.number("note", "cache")
    assert terms.number("note", "cache") != terms.number("file", "cache")

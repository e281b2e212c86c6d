"""The expected numbers are those of the tokenizer that the model was published with."""

import pytest

from contextd.search.embedding import tokenizer


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Hello, World!", [101, 7592, 1010, 2088, 999, 102]),
        ("Ünïcode naïve", [101, 27260, 15743, 102]),
        ("構築 e.g. x_y", [101, 100, 100, 1041, 1012, 1043, 1012, 1060, 1035, 1061, 102]),
        ("😀 ok", [101, 100, 7929, 102]),
        ("", [101, 102]),
    ],
)
def test_a_text_has_the_numbers_that_the_model_knows(text: str, numbers: list[int]) -> None:
    assert tokenizer.token_ids([text]) == [numbers]


def test_what_the_model_cannot_read_is_left_out() -> None:
    assert [len(ids) for ids in tokenizer.token_ids(["word " * 500, "word"])] == [256, 3]


def test_spans_say_where_tokens_stand() -> None:
    assert tokenizer.spans("ab cd") == [(0, 2), (3, 5)]


@pytest.mark.parametrize("text", ["", "ab cd", "構築 e.g. x_y", "word " * 500])
def test_tokens_are_counted_without_their_positions(text: str) -> None:
    assert tokenizer.count(text) == len(tokenizer.spans(text))

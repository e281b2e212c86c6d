"""Regular expressions that people write take no longer than they may."""

import threading

import pytest

from contextd import expressions, limits

ENDLESS = "(a|aa)+b"


@pytest.mark.parametrize(
    ("expression", "mistake"),
    [
        (r"def (\w+)\(", None),
        ("a(", "is not a valid regular expression: missing )"),
        ("(((a{100}){100}){100})", "repeats its parts more than 10,000 times"),
        ("x{0,300}y{0,300}z{0,300}", None),
        ("(?x)(?:a{ 5000}){ 5000}", "repeats its parts more than 10,000 times"),
        ("(?x)(?:a{5 0#{1}\n00}){#\n5000}", "repeats its parts more than 10,000 times"),
        ("(" * 5000 + "a" + ")" * 5000, "is nested too deeply"),
    ],
)
def test_what_is_wrong_with_one_is_said(expression: str, mistake: str | None) -> None:
    found = expressions.mistake_in(expression)

    assert found is mistake is None or str(found).startswith(str(mistake))


def test_lines_begin_and_end_anywhere() -> None:
    assert expressions.finds("^b$", "a\nb\nc")
    assert not expressions.finds("^b$", "ab")


def test_one_that_would_not_end_is_given_up_while_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(expressions, "MATCH_SECONDS", 0.2)

    def give_up() -> None:
        with pytest.raises(TimeoutError):
            expressions.finds(ENDLESS, "a" * 9000)

    search = threading.Thread(target=give_up)
    search.start()
    turns = 0
    while search.is_alive():
        turns += 1

    assert turns > 1000


def test_none_is_begun_when_the_time_is_up() -> None:
    with limits.deadline(0), pytest.raises(TimeoutError):
        expressions.finds("a", "a")

"""Every text is judged in a short time and without an error."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from troubleshoot.commands import dangers, dangers_in_prose
from troubleshoot.commands.judging import UNREADABLE

SECONDS = 5.0


@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "(" * 150 + "1" + ")" * 150,
        "a && " * 1_000 + "a",
        "`" + "(" * 3_000 + "ls" + ")" * 3_000 + "`",
        "$(" * 5_000 + "ls" + ")" * 5_000,
        "drop a " * 2_800,
        "DROP a " * 2_800,
        "rm " * 6_600,
        "find . 'a " * 2_000,
        "\n" * 20_000,
        "a/" * 10_000,
        "`a` " * 5_000,
        "> " + "a/" * 9_000 + " x",
        "# " + "the " * 4_000,
        "<" + "a " * 9_000,
        "DO $a" + " ALTER TABLE x" * 1_000 + "$a$",
        "> a\n" * 5_000,
        "psql\n" * 3_000,
        "sudo " * 4_000,
        "bash -c '" * 1_000,
        "\n".join("`" * length for length in range(200, 3, -1)),
    ],
    ids=lambda text: text[:12],
)
def test_no_text_takes_long(text: str) -> None:
    started = time.process_time()
    dangers(text)
    dangers_in_prose(text)

    assert time.process_time() - started < SECONDS


def test_what_takes_too_long_to_parse_counts_as_destructive() -> None:
    assert dangers("a|" * 10_000) == (UNREADABLE,)


def test_what_is_nested_deeper_than_can_be_parsed_is_judged_by_its_wording() -> None:
    assert dangers("DELETE FROM x WHERE " + "(" * 300 + "a = 1" + ")" * 300)
    assert dangers("a && " * 1_000 + "rm -rf /x")


@pytest.mark.parametrize(
    "character", ["é", "\u0100", "\u2028", "\U00050000", "\U0010ffff", "\ud800"]
)
def test_letters_of_any_language_can_be_judged(character: str) -> None:
    for shape in ("x", "{x", "{1..x", "${x}", "cat <<x\nx\n", "+(x)", "[[ a =~ x ]]", "`x", "?x"):
        dangers(shape.replace("x", character))

    assert dangers(f"rm -rf {character}")


@given(st.text(max_size=300))
def test_any_text_can_be_judged(text: str) -> None:
    dangers(text)
    dangers_in_prose(text)

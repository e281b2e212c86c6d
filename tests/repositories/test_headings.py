"""Markdown is split at its headings, as CommonMark defines them."""

import pytest

from repositories import headings
from repositories.grammar import Definition


def names_in(text: str) -> list[str]:
    whole = headings.outline(text.split("\n"), "markdown").whole
    return [*whole.names()]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Shop\n====\n\nHello.\n\nUse\n---\n\n# More #\n", ["Shop", "Shop > Use", "More"]),
        ("## Use\nMore\n----\n", ["Use", "More"]),
        ("A paragraph\nof two lines\n---\n\n- one\n---\n\n| a |\n---\n\n> one\n---\n", []),
        ("---\n# a comment\ntitle: Shop\n---\n# Use\n", ["Use"]),
        ("+++\n# a comment\n+++\n# Use\n", ["Use"]),
        ("---\n\n# Use\n\n---\n", ["Use"]),
        ("---\n# Use\n", ["Use"]),
        ("````md\n```\n# code\n```\n# code\n````\n# Use\n", ["Use"]),
        ("~~~\n```\n# code\n~~~ not an end\nCode\n----\n~~~~\n# Use\n", ["Use"]),
        ("```code``` in a line\n\n# Use\n", ["Use"]),
        ("    # code\n\n  # Use\n", ["Use"]),
    ],
)
def test_headings_are_distinguished_from_code_lines_and_metadata(
    text: str, names: list[str]
) -> None:
    assert names_in(text) == names


def test_a_section_begins_at_its_title_and_ends_before_the_next_one() -> None:
    text = "Shop\n====\n\nHello.\n\nUse\n---\n\nGo.\n\nMore\n====\n"

    whole = headings.outline(text.split("\n"), "markdown").whole

    def lines_of(section: Definition) -> tuple[int, int]:
        return section.first, section.last

    shop, more = whole.children
    assert [lines_of(one) for one in (shop, *shop.children, more)] == [(0, 9), (5, 9), (10, 12)]

"""Patterns match what git matches, and none of them takes long."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from benchmarks.parsing import best_time
from repositories import globs, rules

SECONDS = 0.5  # many times what they take; with backtracking it would be hours

HOSTILE = [
    ("*a" * 10 + "*b", "a" * 250),
    ("*" * 199 + "b", "a" * 250),
    ("*?" * 99 + "b", "a" * 250),
    ("*[ab]" * 39 + "c", "a" * 250),
    ("*[!b]" * 39 + "c", "a/" * 2000),
    ("*?[ab]" * 32 + "c", "ab" * 125),
    ("?" * 199 + "b", "a" * 250),
    ("**/a/" * 39 + "b", "a/" * 2000 + "c"),
    ("/**/a*" * 30 + "/**/b", "a/" * 2000 + "c"),
    ("**/*a*b/**/" * 18, ("a" * 250 + "/") * 16 + "c"),
    ("*/" * 99 + "b", "a/" * 2000 + "c"),
    ("**/" + "a/" * 98 + "b", "a/" * 2000 + "c"),
]


@pytest.mark.parametrize(("glob", "path"), HOSTILE)
def test_no_pattern_takes_long(glob: str, path: str) -> None:
    patterns = rules.patterns([glob])

    assert best_time(patterns.match_file, path, rounds=1) < SECONDS


NAMES = st.text("aab*^(", min_size=1, max_size=4)
PATHS = st.lists(NAMES, min_size=1, max_size=6).map("/".join)
PIECES = ["a", "b", "*", "**", "/", "/**/", "?", "[ab]", "[]a]", "[b[]", "\\*", "^", "("]


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map("".join), PATHS)
def test_they_match_the_same_as_with_backtracking(glob: str, path: str) -> None:
    expression, _ = GitIgnoreSpecPattern.pattern_to_regex(glob)
    if expression is None:
        return

    there, here = (
        re.search(one, path) for one in (expression, globs.without_backtracking(expression))
    )
    assert (there and there.groupdict()) == (here and here.groupdict())

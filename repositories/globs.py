"""Patterns in the format of .gitignore, matched in time that grows with the length of the path."""

import re
from typing import AnyStr

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

# Parts of the expressions that pathspec writes. Only `*` and `**` become these: it escapes
# characters, and a character set never holds a `/`.
_STAR = "[^/]*"
_FIRST_FOLDERS = "^(?:.+/)?"
_FOLDERS = "(?:/.+)?"
_STARS = re.compile(r"(?:\[\^/\]\*)+")
_UP_TO_NEXT_STAR = re.compile(
    r"\[\^/\]\*((?:(?!\[\^/\]\*)(?:(?<=\[\^)/|[^/]))+)(?=\[\^/\]\*)", re.DOTALL
)
_ANY_CHARACTER = "[^/]"
_SETS = re.compile(r"\\.|\[\^?\]?[^\]]*\]", re.DOTALL)


class Glob(GitIgnoreSpecPattern):
    """A pattern that matches what git matches, without backtracking."""

    @classmethod
    def pattern_to_regex(cls, pattern: AnyStr) -> tuple[AnyStr | None, bool | None]:
        expression, include = super().pattern_to_regex(pattern)
        if isinstance(expression, str):
            expression = without_backtracking(expression)
        return expression, include


def without_backtracking(expression: str) -> str:
    """Rewrite an expression of pathspec.

    What stands between two `*` or two `**` has a fixed length, so that the first place where it
    matches is as good as any later one. As in git, no set of characters holds a `/`.
    """
    return _SETS.sub(_without_slash, _with_first_places(expression))


def _without_slash(found: re.Match[str]) -> str:
    is_set = found[0].startswith("[") and found[0] != _ANY_CHARACTER
    return f"(?!/){found[0]}" if is_set else found[0]


def _with_first_places(expression: str) -> str:
    stars = _UP_TO_NEXT_STAR.sub(r"(?>[^/]*?\1)", _STARS.sub(_STAR, expression))
    first, *between = stars.split(_FOLDERS)
    if not between:
        return first
    if first.startswith(_FIRST_FOLDERS):
        first = f"^(?>(?:.+?/)??{first.removeprefix(_FIRST_FOLDERS)}(?=/))"
    inner = [f"(?>(?:/.+?)??{part}(?=/))" for part in between[:-1]]
    return "".join([first, *inner, _FOLDERS, between[-1]])

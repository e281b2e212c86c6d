"""Select the files of a folder to index."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from contextd.errors import Invalid
from repositories import rules
from repositories.ignoring import Ignores
from repositories.listing import OWN_IGNORE_FILE
from repositories.rules import Reason


@dataclass(frozen=True, slots=True)
class Verdict:
    """The reason to exclude a file, if any; `any_content` if it may even look generated."""

    reason: Reason | None
    any_content: bool = False


MAX_GLOB_CHARACTERS = 200
SECRET_PARTS = 2
"""Trailing parts of the root's path checked for secrets, as in `~/.kube`."""


class Selection:
    """Applies the caller's patterns, the folder's own ignore files, then our rules."""

    def __init__(self, root: Path, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._above = "/".join(root.parts[-SECRET_PARTS:]).lstrip("/")
        self._include = rules.patterns(include) if include else None
        self._exclude = rules.patterns(exclude)
        self._ignores = Ignores(root, [OWN_IGNORE_FILE])

    def verdict(self, path: str) -> Verdict:
        ignored = self._ignores.verdict_within(path)
        if ignored or self._exclude.match_file(path):
            return Verdict(Reason.EXCLUDED)
        if self._include and not self._include.match_file(path):
            return Verdict(Reason.NOT_INCLUDED)
        if rules.is_secret(f"{self._above}/{path}"):
            return Verdict(Reason.SECRET)
        unwanted = rules.by_name(path)
        if ignored is False:
            return Verdict(None, any_content=True)
        return Verdict(unwanted)


def ensure_patterns(field: str, globs: Sequence[str]) -> None:
    """Check that the patterns are valid, can be stored, and can match. Raises Invalid."""
    try:
        patterns = rules.patterns(globs).patterns
    except ValueError as error:
        raise Invalid(f"{field} has an invalid pattern: {error}", field=field) from None
    for glob in globs:
        if len(glob) > MAX_GLOB_CHARACTERS:
            raise Invalid(f"{field} has more than {MAX_GLOB_CHARACTERS} characters", field=field)
        if glob.lstrip("!").startswith("./"):
            raise Invalid(f"{field} has {glob!r}, which matches nothing: omit ./", field=field)
    if globs and not any(pattern.include for pattern in patterns):
        raise Invalid(f"{field} has no pattern that can match a file", field=field)

"""Find signs of threats in changed files: names, changed lines and meaning."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import sqrt
from typing import NamedTuple

from contextd import expressions, limits
from contextd.callers import Caller
from threats import changed_files, services
from threats.changed_files import ChangedFile
from threats.schema import AutomatedCheck, ThreatPattern

STRENGTH_OF_CHECK = 0.6
"""Divided by the root of one plus the number of threats whose secure code the check matches."""
STRENGTH_OF_NAME = 0.4
"""Divided by the root of the number of threats the name indicates: `views.py` says little."""
MIN_MEANING = 0.3
MAX_THREATS_BY_MEANING = 5
MAX_FILES_BY_MEANING = 20
"""Maximum files compared by meaning, each with a separate search."""
MAX_CHARACTERS_BY_MEANING = 2000
MATCH_TIMEOUT_SECONDS = 5.0
"""Seconds to match names and regular expressions, for all files together."""
MAX_OMITTED_SHOWN = 5

Strength = Callable[[AutomatedCheck], float]


class Sign(NamedTuple):
    """A threat indicated by a file, with strength and reason."""

    pattern: ThreatPattern
    strength: float
    reason: str


@dataclass(frozen=True, slots=True)
class Signs:
    """Signs by file path; `notice` says what was omitted, if anything."""

    of: dict[str, list[Sign]]
    notice: str | None


def by_expressions(files: Sequence[ChangedFile], patterns: Sequence[ThreatPattern]) -> Signs:
    """Match file names and changed lines, longest file last, so that it delays no other."""
    signs: dict[str, list[Sign]] = {}
    late: list[str] = []
    strength = cache(partial(_strength, secure_code=[_secure_code(one) for one in patterns]))
    with limits.deadline(MATCH_TIMEOUT_SECONDS):
        for file in sorted(files, key=lambda file: len(file.added)):
            if not limits.time_left():
                late.append(f"anything in {file.path}")
                continue
            by_name = _by_name(file, patterns, late)
            signs[file.path] = [*by_name, *_by_checks(file, patterns, strength, late)]
    return Signs(signs, _omissions(late))


def by_meaning(caller: Caller, files: Sequence[ChangedFile]) -> Signs:
    """Search with the text of the longest files."""
    longest = sorted(files, key=lambda file: len(file.added), reverse=True)[:MAX_FILES_BY_MEANING]
    signs: dict[str, list[Sign]] = {}
    notice = None
    for file in longest:
        text = f"{file.path}\n{file.added}"[:MAX_CHARACTERS_BY_MEANING]
        found = services.find(caller, text, limit=MAX_THREATS_BY_MEANING)
        notice = notice or found.notice
        signs[file.path] = [
            Sign(match.pattern, match.score, "similar words and meaning")
            for match in found.matches
            if match.score >= MIN_MEANING
        ]
    if len(files) > len(longest):
        part = f"Of {len(files)} files the {len(longest)} longest were compared by meaning"
        notice = f"{part}, the others by names and regular expressions. {notice or ''}".strip()
    return Signs(signs, notice)


def _by_name(
    file: ChangedFile, patterns: Sequence[ThreatPattern], late: list[str]
) -> Iterator[Sign]:
    meant = {}
    for pattern in patterns:
        try:
            for glob in pattern.triggers.file_patterns:
                if changed_files.is_meant(file.path, glob):
                    meant[pattern.id] = pattern, glob
        except TimeoutError:
            late.append(f"{pattern.id} in the name of {file.path}")
    for pattern, glob in meant.values():
        strength = STRENGTH_OF_NAME / sqrt(len(meant))
        yield Sign(pattern, strength, f"a file is named like {glob}")


def _by_checks(
    file: ChangedFile, patterns: Sequence[ThreatPattern], strength: Strength, late: list[str]
) -> Iterator[Sign]:
    changed = {"added": file.added, "removed": file.removed}
    for pattern in patterns:
        for check in pattern.testing.automated_checks:
            text = changed[check.side]
            try:
                if text and expressions.finds(check.pattern, text) and _is_change(check, file):
                    yield Sign(pattern, strength(check), _reason(check))
            except TimeoutError:
                late.append(f"{pattern.id} in {file.path}")


def _is_change(check: AutomatedCheck, file: ChangedFile) -> bool:
    """Return whether the check applies; a guard removed and added in one hunk has only moved."""
    return check.side == "added" or any(
        expressions.count(check.pattern, "\n".join(hunk.removed))
        > expressions.count(check.pattern, "\n".join(hunk.added))
        for hunk in file.hunks
    )


def _reason(check: AutomatedCheck) -> str:
    verb = "removed" if check.side == "removed" else "written"
    return f"it has been {verb}: {check.description}"


def _strength(check: AutomatedCheck, *, secure_code: Sequence[str]) -> float:
    """Return less for a check that also matches secure code; guards are expected there."""
    if check.side == "removed":
        return STRENGTH_OF_CHECK
    common = sum(expressions.finds(check.pattern, code) for code in secure_code)
    return STRENGTH_OF_CHECK / sqrt(1 + common)


def _secure_code(pattern: ThreatPattern) -> str:
    examples = (example for one in pattern.mitigations for example in one.code_examples)
    return "\n".join(example.secure_code for example in examples)


def _omissions(omitted: Iterable[str]) -> str | None:
    late = list(dict.fromkeys(omitted))
    if not late:
        return None
    more = f" and {len(late) - MAX_OMITTED_SHOWN} more" if len(late) > MAX_OMITTED_SHOWN else ""
    shown = ", ".join(late[:MAX_OMITTED_SHOWN])
    return f"Not fully checked within the time limit: {shown}{more}."

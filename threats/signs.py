"""What in changed files points to threats: their names, what was written, what that means."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from contextd import expressions, limits
from contextd.callers import Caller
from threats import changed_files, services
from threats.changed_files import ChangedFile
from threats.schema import ThreatPattern

BY_CHECK = 0.6
BY_NAME = 0.4
"""Divided by the root of how many threats the name points to: `views.py` says little."""
LEAST_BY_MEANING = 0.3
BY_MEANING_A_FILE = 5
FILES_READ = 20
"""By meaning, each of which is a search of its own."""
CHARACTERS_READ = 2000
SECONDS = 5.0
"""For the names and the regular expressions of all files."""
LEFT_OUT_TOLD = 5


class Sign(NamedTuple):
    """A threat with how strongly, and by what, a file points to it."""

    pattern: ThreatPattern
    strength: float
    reason: str


@dataclass(frozen=True, slots=True)
class Signs:
    """By the path of the file; `notice` tells what was left out, if anything."""

    of: dict[str, list[Sign]]
    notice: str | None


def by_expressions(files: Sequence[ChangedFile], patterns: Sequence[ThreatPattern]) -> Signs:
    """Names of files and what was written, the longest last so that it delays no other."""
    signs: dict[str, list[Sign]] = {}
    late: list[str] = []
    with limits.deadline(SECONDS):
        for file in sorted(files, key=lambda file: len(file.added)):
            if not limits.time_left():
                late.append(f"anything in {file.path}")
                continue
            signs[file.path] = [*_by_name(file, patterns, late), *_by_checks(file, patterns, late)]
    return Signs(signs, _left_out(late))


def by_meaning(caller: Caller, files: Sequence[ChangedFile]) -> Signs:
    """Of the files with most to read."""
    longest = sorted(files, key=lambda file: len(file.added), reverse=True)[:FILES_READ]
    signs: dict[str, list[Sign]] = {}
    notice = None
    for file in longest:
        said = f"{file.path}\n{file.added[:CHARACTERS_READ]}"[:CHARACTERS_READ]
        found = services.find(caller, said, limit=BY_MEANING_A_FILE)
        notice = notice or found.notice
        signs[file.path] = [
            Sign(match.pattern, match.score, "words and meaning are near")
            for match in found.matches
            if match.score >= LEAST_BY_MEANING
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
        yield Sign(pattern, BY_NAME / len(meant) ** 0.5, f"a file is named like {glob}")


def _by_checks(
    file: ChangedFile, patterns: Sequence[ThreatPattern], late: list[str]
) -> Iterator[Sign]:
    for pattern in patterns if file.added else []:
        for check in pattern.testing.automated_checks:
            try:
                if expressions.finds(check.pattern, file.added):
                    yield Sign(pattern, BY_CHECK, f"it has been written: {check.description}")
            except TimeoutError:
                late.append(f"{pattern.id} in {file.path}")


def _left_out(late: Sequence[str]) -> str | None:
    if not late:
        return None
    more = f" and {len(late) - LEFT_OUT_TOLD} more" if len(late) > LEFT_OUT_TOLD else ""
    told = ", ".join(late[:LEFT_OUT_TOLD])
    return f"Not looked for to the end, since it took too long: {told}{more}."

"""What to look at when work is reviewed: by the files it touches, by what it is about."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from contextd.callers import Caller
from threats import changed_files, services
from threats.changed_files import ChangedFile
from threats.models import Threat
from threats.schema import ThreatPattern

Signs = Iterator[tuple[ThreatPattern, float, str]]
"""Threats with how strongly, and by what, a file points to them."""

BY_CHECK = 0.6
BY_NAME = 0.4
"""Divided by the root of how many threats the name points to: `views.py` says little."""
LEAST_BY_MEANING = 0.3
BY_MEANING_A_FILE = 5
FILES_READ = 20
CHARACTERS_READ = 2000


@dataclass(slots=True)
class FileThreat:
    """A threat, the files that point to it, and by what."""

    pattern: ThreatPattern
    strengths: dict[str, float] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)

    @property
    def score(self) -> float:
        return sum(self.strengths.values())

    @property
    def reasons(self) -> list[str]:
        return sorted(self.strengths, key=self.strengths.__getitem__, reverse=True)

    def add(self, path: str, strength: float, reason: str) -> None:
        self.strengths[reason] = max(strength, self.strengths.get(reason, 0.0))
        if path not in self.files:
            self.files.append(path)


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a checklist, and the areas in which it is to be looked at."""

    pattern: ThreatPattern
    areas: list[str]

    @property
    def as_text(self) -> str:
        summary = self.pattern.agent_summary
        return (
            f"- {self.pattern.id} ({self.pattern.severity}) {summary.threat} "
            f"Check: {summary.check} Fix: {summary.fix}"
        )


@dataclass(frozen=True, slots=True)
class Checklist:
    points: list[Point]
    notice: str | None

    def uncovered(self, areas: Iterable[str]) -> list[str]:
        """The areas that nothing is known about."""
        covered = {area for point in self.points for area in point.areas}
        return [area for area in dict.fromkeys(areas) if area not in covered]


def for_files(caller: Caller, *, paths: Sequence[str], diff: str, limit: int) -> list[FileThreat]:
    """What the files may bring, by their names and by what was written into them."""
    visible = Threat.objects.visible_to(caller).told()
    patterns = [services.pattern_of(threat) for threat in visible]
    files = changed_files.gather(paths, diff)
    longest = sorted(files, key=lambda file: len(file.added), reverse=True)[:FILES_READ]
    found: dict[str, FileThreat] = {}
    for file in files:
        for pattern, strength, reason in _signs(caller, file, patterns, file in longest):
            one = found.setdefault(pattern.id, FileThreat(pattern))
            one.add(file.path, strength, reason)
    return sorted(found.values(), key=lambda one: (-one.score, one.pattern.id))[:limit]


def checklist(
    caller: Caller,
    *,
    areas: Sequence[str],
    language: str | None,
    framework: str | None,
    most_for_each: int,
) -> Checklist:
    """What to check in all of the areas together, each thing once, the worst first."""
    areas_of: dict[int, list[str]] = {}
    notice = None
    for area in dict.fromkeys(areas):
        matches = services.find(
            caller, area, language=language, framework=framework, limit=most_for_each
        )
        notice = notice or matches.notice
        for match in matches.matches:
            areas_of.setdefault(match.threat.pk, []).append(area)
    threats = Threat.objects.filter(pk__in=areas_of).told().worst_first()
    points = [Point(services.pattern_of(threat), areas_of[threat.pk]) for threat in threats]
    return Checklist(points, notice)


def _signs(
    caller: Caller, file: ChangedFile, patterns: Sequence[ThreatPattern], is_read: bool
) -> Signs:
    yield from _by_name(file, patterns)
    if is_read:
        yield from _by_checks(file, patterns)
        yield from _by_meaning(caller, file)


def _by_name(file: ChangedFile, patterns: Sequence[ThreatPattern]) -> Signs:
    meant = {
        pattern.id: (pattern, glob)
        for pattern in patterns
        for glob in pattern.triggers.file_patterns
        if changed_files.is_meant(file.path, glob)
    }
    for pattern, glob in meant.values():
        yield pattern, BY_NAME / len(meant) ** 0.5, f"a file is named like {glob}"


def _by_checks(file: ChangedFile, patterns: Sequence[ThreatPattern]) -> Signs:
    for pattern in patterns:
        for check in pattern.testing.automated_checks:
            if file.added and _expression(check.pattern).search(file.added):
                yield pattern, BY_CHECK, f"it has been written: {check.description}"


def _by_meaning(caller: Caller, file: ChangedFile) -> Signs:
    said = f"{file.path}\n{file.added[:CHARACTERS_READ]}"
    for match in services.find(caller, said, limit=BY_MEANING_A_FILE).matches:
        if match.score >= LEAST_BY_MEANING:
            yield match.pattern, match.score, "words and meaning are near"


@lru_cache(maxsize=1000)
def _expression(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)

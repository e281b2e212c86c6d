"""Find what to check in a review, by changed files or by areas of work."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from contextd import notes
from contextd.callers import Caller
from threats import changed_files, services, signs
from threats.models import Threat
from threats.schema import ThreatPattern


@dataclass(slots=True)
class FileThreat:
    """A threat, the files that indicate it, and how."""

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
        if path not in self.files[-1:]:
            self.files.append(path)


@dataclass(frozen=True, slots=True)
class FileThreats:
    threats: list[FileThreat]
    notice: str | None


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a checklist, and the areas to check it in."""

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
        """Return the areas without known threats."""
        covered = {area for point in self.points for area in point.areas}
        return [area for area in dict.fromkeys(areas) if area not in covered]


def for_files(caller: Caller, *, paths: Sequence[str], diff: str, limit: int) -> FileThreats:
    """Return threats indicated by the files' names and changed lines."""
    visible = list(Threat.objects.visible_to(caller).without_content())
    patterns = [services.pattern_of(threat) for threat in visible]
    files = changed_files.gather(paths, diff)
    searched, compared = signs.by_expressions(files, patterns), signs.by_meaning(caller, files)
    found: dict[str, FileThreat] = {}
    for file in files:
        for sign in [*searched.of.get(file.path, []), *compared.of.get(file.path, [])]:
            one = found.setdefault(sign.pattern.id, FileThreat(sign.pattern))
            one.add(file.path, sign.strength, sign.reason)
    threats = sorted(found.values(), key=lambda one: (-one.score, one.pattern.id))[:limit]
    answered = {one.pattern.id for one in threats}
    notes.answered(services.DOMAIN, [threat.pk for threat in visible if threat.key in answered])
    return FileThreats(threats, " ".join(filter(None, [searched.notice, compared.notice])) or None)


def checklist(
    caller: Caller,
    *,
    areas: Sequence[str],
    language: str | None,
    framework: str | None,
    most_for_each: int,
) -> Checklist:
    """Return a checklist for all areas, without repeats, most severe first."""
    areas_of: dict[int, list[str]] = {}
    notice = None
    for area in dict.fromkeys(areas):
        matches = services.find(
            caller, area, language=language, framework=framework, limit=most_for_each
        )
        notice = notice or matches.notice
        for match in matches.matches:
            areas_of.setdefault(match.threat.pk, []).append(area)
    visible = Threat.objects.visible_to(caller).without_content()
    threats = visible.filter(pk__in=areas_of).worst_first()
    points = [Point(services.pattern_of(threat), areas_of[threat.pk]) for threat in threats]
    notes.answered(services.DOMAIN, [threat.pk for threat in threats])
    return Checklist(points, notice)

"""Known errors like the one asked about: patterns and past fixes in one list."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from remediations.services import Match as PastFix
from troubleshoot import commands, general, placeholders, weighing
from troubleshoot.matching import Match
from troubleshoot.models import Pattern
from troubleshoot.symptoms import kind_of_text


@dataclass(frozen=True, slots=True)
class SimilarIssue:
    """`match_score` is the probability that it is the same; `semantic_score` is 0 to 1."""

    id: str
    source: str
    error_pattern: str
    root_cause: str
    solution: str
    match_score: float
    semantic_score: float
    success_rate: float
    severity: str
    category: str
    tags: list[str]
    safety_warnings: list[str]

    @property
    def confidence(self) -> str:
        return level_of(self.match_score)

    @property
    def is_destructive(self) -> bool:
        return bool(self.safety_warnings)


HIGH, MEDIUM = 0.75, 0.4


def level_of(probability: float) -> str:
    if probability >= HIGH:
        return "high"
    return "medium" if probability >= MEDIUM else "low"


def issues(matches: Sequence[Match], fixes: Sequence[PastFix], limit: int) -> list[SimilarIssue]:
    """The most similar first."""
    found = [*map(_of_pattern, matches[:limit]), *map(_of_fix, fixes[:limit])]
    return sorted(found, key=lambda issue: (-issue.match_score, issue.id))[:limit]


def _of_pattern(match: Match) -> SimilarIssue:
    pattern = match.pattern
    return SimilarIssue(
        id=pattern.key,
        source="pattern",
        error_pattern=error_of(pattern),
        root_cause=pattern.cause,
        solution=solution_of(pattern),
        match_score=weighing.probability(match.log_odds),
        semantic_score=(1 + match.evidence.meaning) / 2,
        success_rate=pattern.success_rate,
        severity=pattern.severity,
        category=pattern.category,
        tags=list(pattern.tags),
        safety_warnings=warnings_of(pattern),
    )


def _of_fix(fix: PastFix) -> SimilarIssue:
    remediation = fix.remediation
    return SimilarIssue(
        id=f"remediation:{remediation.pk}",
        source="remediation",
        error_pattern=remediation.error_message,
        root_cause=remediation.solution.strip().partition("\n")[0],
        solution=remediation.solution,
        match_score=weighing.probability(weighing.log_odds_of_fix(fix.scores)),
        semantic_score=fix.scores.semantic,
        success_rate=remediation.confidence,
        severity=remediation.severity or "medium",
        category=general.category_of(kind_of_text(remediation.error_message)),
        tags=list(remediation.tags),
        safety_warnings=list(commands.dangers_in_prose(remediation.solution)),
    )


def solution_of(pattern: Pattern) -> str:
    """Return its fix as one text, without values of an error."""
    steps = sorted(pattern.fix, key=lambda step: bool(step["destructive"]))
    lines = [f"{step['do']}: {step['run']}" if step.get("run") else step["do"] for step in steps]
    text = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
    return placeholders.fill(text, {})


def error_of(pattern: Pattern) -> str:
    """Return an example of its errors."""
    return pattern.errors[0].strip() if pattern.errors else pattern.title


def warnings_of(pattern: Pattern) -> list[str]:
    """Return what the steps of its fix would destroy."""
    warnings = []
    for step in pattern.fix:
        losses = commands.dangers(placeholders.fill(step.get("run", ""), {}))
        if losses or step["destructive"]:
            warning = f"{step['do']}: {'; '.join(losses) or 'it cannot be undone'}"
            warnings.append(placeholders.fill(warning, {}))
    return warnings


@dataclass(frozen=True, slots=True)
class KnownError:
    """A pattern as it is listed; `tried` is the number of ratings of its fix."""

    id: str
    title: str
    error_pattern: str
    category: str
    severity: str
    root_cause: str
    solution: str
    success_rate: float
    tried: int
    tags: list[str]
    safety_warnings: list[str]
    usage_count: int
    last_used: datetime | None

    @property
    def is_destructive(self) -> bool:
        return bool(self.safety_warnings)


def known_error(pattern: Pattern) -> KnownError:
    return KnownError(
        id=pattern.key,
        title=pattern.title,
        error_pattern=error_of(pattern),
        category=pattern.category,
        severity=pattern.severity,
        root_cause=pattern.cause,
        solution=solution_of(pattern),
        success_rate=round(pattern.success_rate, 3),
        tried=pattern.worked + pattern.did_not_work,
        tags=[*pattern.technologies, *pattern.tags],
        safety_warnings=warnings_of(pattern),
        usage_count=pattern.used_count,
        last_used=pattern.last_used_at,
    )

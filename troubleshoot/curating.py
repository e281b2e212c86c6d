"""Write, correct and draft patterns."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, count
from typing import Annotated, Any

from pydantic import Field, ValidationError

from contextd import faults, limits, redaction, shipped
from contextd.errors import Invalid
from remediations.models import Severity
from troubleshoot import commands, general, knowledge, library, symptoms
from troubleshoot.knowledge import Check, Entry, Printed
from troubleshoot.models import Diagnosis, Pattern

MAX_PROSE_CHARACTERS = 5_000
TEXTS = ["title", "errors", "cause", "confirm", "fix", "confused_with"]


class OwnEntry(Entry):
    """A pattern that people write themselves, who may have seen the error once."""

    errors: Annotated[list[Printed], Field(min_length=1, max_length=50)]
    confirm: Annotated[list[Check], Field(max_length=20)] = []


def problems(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the problems by field; `key` is the id."""
    try:
        entry = OwnEntry.model_validate({"id": values["key"], **_without(values, "key")})
    except ValidationError as error:
        return {
            _field(problem["loc"]): f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
            for problem in error.errors(include_url=False)
        }
    wrong = {place[0]: f"{place[1]}: {reason}" for place, reason in knowledge.problems_of(entry)}
    unknown = [one.id for one in entry.confused_with if not _exists(one.id)]
    if unknown:
        wrong["confused_with"] = f"there is no pattern {', '.join(unknown)}"
    return {str(field): reason for field, reason in wrong.items()}


def _exists(key: str) -> bool:
    return Pattern.objects.filter(key=key).exists()


def _without(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {field: value for field, value in values.items() if field != name}


def _field(place: tuple[str | int, ...]) -> str:
    field = str(place[0])
    return "key" if field == "id" else field


def save(pattern: Pattern) -> int:
    """Save and index the pattern, and return the number of redacted credentials."""
    redacted = redaction.redact_value({name: getattr(pattern, name) for name in TEXTS})
    for name, value in redacted.value.items():
        setattr(pattern, name, value)
    if pattern.is_retired:
        shipped.keep(pattern)
    with limits.transaction():
        pattern.save()
        shipped.index(library.LIBRARY, [pattern])
    library.announce([pattern.key])
    return len(redacted.findings)


@dataclass(frozen=True, slots=True)
class Solution:
    """What ended an error; `confirm` and `fix` are those of a pattern."""

    cause: str
    confirm: list[dict[str, Any]]
    fix: list[dict[str, Any]]


def draft_of(diagnosis: Diagnosis) -> Pattern:
    """Create a draft from a solved session; a person has to complete it."""
    solution = _solution_of(diagnosis)
    symptom = symptoms.read(
        diagnosis.error_message,
        diagnosis.stack_trace,
        facts=diagnosis.facts,
        tags=diagnosis.tags,
    )
    title = faults.normalize(symptom.fault.error_line or str(diagnosis))[:200]
    return Pattern.objects.create(
        key=_free_key(title),
        title=title,
        category=diagnosis.category or general.category_of(symptom.kind),
        severity=Severity.MEDIUM,
        technologies=[symptom.language or "general"],
        errors=[f"{diagnosis.error_message}\n{diagnosis.stack_trace}".strip()[:10_000]],
        cause=solution.cause[:MAX_PROSE_CHARACTERS],
        confirm=solution.confirm,
        fix=solution.fix,
        tags=diagnosis.tags,
        is_draft=True,
    )


def _solution_of(diagnosis: Diagnosis) -> Solution:
    """Return what the caller said, else what a model or a saved fix said and a caller confirmed."""
    if diagnosis.status == Diagnosis.Status.SOLVED and diagnosis.fixed_by:
        return Solution(diagnosis.fixed_by, [], [_step(diagnosis.fixed_by)])
    right = [one for one in diagnosis.hypotheses if diagnosis.verdicts.get(one["id"])]
    new = [one for one in right if not _exists(one["id"])]
    if new:
        return _solution_in(new[0])
    if right:
        raise Invalid(f"session {diagnosis.pk} was solved by the pattern {right[0]['id']}")
    raise Invalid(f"session {diagnosis.pk} does not say what fixed it")


def _solution_in(hypothesis: Mapping[str, Any]) -> Solution:
    checks = [{part: one[part] for part in ("run", "expect")} for one in hypothesis["checks"]]
    steps = [_step(action["description"], action["command"]) for action in hypothesis["actions"]]
    return Solution(hypothesis["root_cause"], [one for one in checks if one["run"]], steps)


def _step(description: str, command: str = "") -> dict[str, Any]:
    losses = [*commands.dangers(command), *commands.dangers_in_prose(description)]
    return {
        "do": description[:MAX_PROSE_CHARACTERS],
        "run": command,
        "destructive": bool(losses),
    }


def _free_key(title: str) -> str:
    key = "-".join(["own", *knowledge.words_of(title)])[:50].strip("-")
    keys = chain([key], (f"{key}-{number}" for number in count(2)))
    return next(free for free in keys if not _exists(free))

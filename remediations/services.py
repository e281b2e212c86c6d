"""Save, search, rate, change and delete remediations."""

import hashlib
import re
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from django.db import IntegrityError
from django.db.models import F
from django.db.models.functions import Greatest

from contextd import limits, notes, projects, search
from contextd.callers import Caller
from contextd.changes import announce
from contextd.completions import completer
from contextd.errors import Invalid, NotFound
from contextd.models import Project, get_record
from contextd.search import Hit
from contextd.status import has_records, health_check
from remediations import reading, repeated, scoring
from remediations.models import Remediation
from remediations.reading import Reading
from remediations.scoring import Scores

DOMAIN = "remediation"
FITS = 0.5
"""Default minimum match of a result, 0 to 1."""
RATINGS = ["worked", "did_not_work", "outdated"]
COUNTS = ["seen_count", *RATINGS]
TEXT = ["error_message", "error_type", "stack_trace", "solution"]
SHOWN_FIELDS = [
    *("error_message", "solution", "error_type", "severity", "stack_trace", "context", "tags"),
    *("project", "confidence", *COUNTS, "created_by", "created_at", "updated_at", "last_seen_at"),
]
"""Fields that people read."""
_CAPITALISED = re.compile(r"[A-Z][a-z]+(?=[^\w\s]*(?:\s|$))")
_FULL_STOP = re.compile(r"(?<=[\w`'\")\]])[.!]$")
REORDERED = 50
"""Candidates compared in detail beyond the limit, since that changes their order."""

Outcome = Literal["worked", "did_not_work", "outdated"]


@dataclass(frozen=True, slots=True)
class Saved:
    remediation: Remediation
    notice: str | None


@dataclass(frozen=True, slots=True)
class Match:
    remediation: Remediation
    scores: Scores


@dataclass(frozen=True, slots=True)
class Matches:
    matches: list[Match]
    notice: str | None


def register_for_search() -> None:
    search.register_records(
        DOMAIN, "Remediations", Remediation, found_by="remediation_search", fields=SHOWN_FIELDS
    )


@health_check("remediation")
def probe() -> None:
    """Check that the table can be read."""
    has_records(Remediation.objects.all(), "remediations")


def save(
    caller: Caller,
    *,
    error_message: str,
    error_type: str,
    solution: str,
    project_path: str | None,
    context: Mapping[str, str],
    tags: Sequence[str],
    severity: str | None,
    stack_trace: str,
) -> Saved:
    """Save a fix; the same fix of the same error strengthens the existing one, and completes it.

    Unless it is vague, an error without its stack is the same as one with any.
    """
    read = reading.read(error_message, stack_trace, error_type)
    new = Remediation(
        error_message=error_message,
        error_type=error_type,
        stack_trace=stack_trace,
        solution=solution,
        context=dict(context),
        tags=list(dict.fromkeys(tags)),
        severity=severity or "",
        fingerprint=read.fingerprint,
        solution_digest=digest_of(solution),
        calls=list(read.calls),
        created_by=caller.principal,
    )
    prepared = search.prepare(*read.found_by(solution))
    saved = limits.retried(partial(_keep, caller, new, project_path, prepared))
    if stack_trace and not saved.remediation.stack_trace:
        _add_stack(caller, saved.remediation, stack_trace)
    return saved


def _keep(
    caller: Caller, new: Remediation, project_path: str | None, prepared: search.Prepared
) -> Saved:
    """Store it, or strengthen the one that is known. Raises Stale if it was saved concurrently."""
    try:
        with limits.transaction():
            if project_path:
                new.project = projects.resolve(caller, project_path, new.context)
            if known := repeated.find(new):
                added = repeated.strengthen(known, new)
                announce("resources", address_of(known))
                return Saved(known, _seen_again(known, added))
            new.save(force_insert=True)
            search.store(DOMAIN, new.pk, new.project_id, prepared)
    except IntegrityError:
        raise limits.Stale from None
    return Saved(new, prepared.notice)


def digest_of(solution: str) -> str:
    """Return a hash that ignores spacing, the capital of the first word and a final full stop.

    Lines and their indentation count, and so do other capitals and a `.` that stands alone: they
    change what code and commands do.
    """
    lines = textwrap.dedent("\n".join(solution.expandtabs().splitlines())).split("\n")
    text = "\n".join(_indent(line) + " ".join(line.split()) for line in lines if line.strip())
    if _CAPITALISED.match(text):
        text = text[0].lower() + text[1:]
    return hashlib.sha256(_FULL_STOP.sub("", text).encode()).hexdigest()


def _indent(line: str) -> str:
    return " " * (len(line) - len(line.lstrip()))


def _seen_again(remediation: Remediation, added: Sequence[str]) -> str:
    effect = (
        f"This save added what it lacked: {', '.join(added)}."
        if added
        else "Nothing else changed: remediation_update changes its fields."
    )
    seen = f"it has now been seen {remediation.seen_count} times"
    return f"This fix was already known; {seen}. {effect}"


def _add_stack(caller: Caller, remediation: Remediation, stack_trace: str) -> None:
    """Add a stack, unless the remediation was deleted or saved with that stack meanwhile."""
    add = partial(_change_text, caller, str(remediation.pk), {"stack_trace": stack_trace})
    with suppress(NotFound, IntegrityError):
        limits.retried(add)


def update(
    caller: Caller,
    remediation_id: str,
    *,
    error_message: str | None = None,
    error_type: str | None = None,
    solution: str | None = None,
    context: Mapping[str, str] | None = None,
    tags: Sequence[str] | None = None,
    severity: str | None = None,
    stack_trace: str | None = None,
) -> Saved:
    """Change the given fields; changed text is embedded again.

    The ratings of the former fix do not count for another one.
    """
    given: dict[str, Any] = {
        "error_message": error_message,
        "error_type": error_type,
        "solution": solution,
        "context": context,
        "tags": None if tags is None else list(dict.fromkeys(tags)),
        "severity": severity,
        "stack_trace": stack_trace,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    if not changes.keys() & set(TEXT):
        with limits.transaction():
            return Saved(_change(caller, remediation_id, changes), notice=None)
    try:
        return limits.retried(partial(_change_text, caller, remediation_id, changes))
    except IntegrityError:
        raise Invalid(
            "this fix of this error is saved already; delete one of the two", field="solution"
        ) from None


def _change_text(caller: Caller, remediation_id: str, changes: Mapping[str, Any]) -> Saved:
    """Change the text. Raises Stale if the rest of it changed during the embedding."""
    before = get(caller, remediation_id)
    text = {name: changes.get(name, getattr(before, name)) for name in TEXT}
    read = reading.read(text["error_message"], text["stack_trace"], text["error_type"])
    prepared = search.prepare(*read.found_by(text["solution"]))
    derived = {
        "fingerprint": read.fingerprint,
        "solution_digest": digest_of(text["solution"]),
        "calls": list(read.calls),
    }
    is_same_fix = derived["solution_digest"] == digest_of(before.solution)
    reset = {} if is_same_fix else {"seen_count": 1, **dict.fromkeys(RATINGS, 0)}
    with limits.transaction():
        remediation = _change(caller, remediation_id, {**changes, **derived, **reset})
        if any(getattr(remediation, name) != text[name] for name in TEXT):
            raise limits.Stale
        search.store(DOMAIN, remediation.pk, remediation.project_id, prepared)
    return Saved(remediation, prepared.notice)


def _change(caller: Caller, remediation_id: str, changes: Mapping[str, Any]) -> Remediation:
    """Change under a row lock, so that concurrent changes to other fields survive."""
    remediation = _locked(caller, remediation_id)
    for name, value in changes.items():
        setattr(remediation, name, value)
    remediation.save(update_fields=[*changes, "updated_at"])
    announce("resources", address_of(remediation))
    return remediation


def _locked(caller: Caller, remediation_id: str) -> Remediation:
    """Lock the row; always do so before its index entries, to avoid deadlocks."""
    return get_record(Remediation.objects.visible_to(caller).select_for_update(), remediation_id)


def find(
    caller: Caller,
    *,
    error_message: str,
    stack_trace: str,
    limit: int,
    min_score: float,
    tags: Sequence[str],
) -> Matches:
    """Return fixes of the most similar errors among those the caller may see."""
    read = reading.read(error_message, stack_trace)
    found = search.find(
        read.text,
        domain=DOMAIN,
        projects=caller.projects,
        records=Remediation.objects.tagged(tags) if tags else None,
        limit=limit + REORDERED,
        headline=read.headline,
        weights=scoring.WEIGHTS,
    )
    scores = _scores(read, found.hits)
    good = [pk for pk in scores if scores[pk].match >= min_score]
    best = sorted(good, key=lambda pk: scores[pk].rank, reverse=True)[:limit]
    remediations = Remediation.objects.in_bulk(best)
    matches = [Match(remediations[pk], scores[pk]) for pk in best if pk in remediations]
    return Matches(matches, found.notice)


def _scores(read: Reading, hits: Sequence[Hit]) -> dict[int, Scores]:
    compared = Remediation.objects.only(*scoring.COMPARED)
    return {
        hit.record_id: scoring.score(read, hit, remediation)
        for hit, remediation in search.with_records(hits, compared)
    }


@projects.before_merge
def merge_remediations(kept: Project, absorbed: Project) -> None:
    """Merge equal records of both projects into one, with the sums of their counts."""
    for theirs in Remediation.objects.filter(project=absorbed).select_for_update():
        ours = Remediation.objects.filter(
            project=kept,
            fingerprint=theirs.fingerprint,
            solution_digest=theirs.solution_digest,
        )
        counts = {name: F(name) + getattr(theirs, name) for name in COUNTS}
        if ours.update(**counts, last_seen_at=Greatest("last_seen_at", theirs.last_seen_at)):
            search.forget(DOMAIN, [theirs.pk])
            theirs.delete()


def get(caller: Caller, remediation_id: str) -> Remediation:
    return get_record(Remediation.objects.visible_to(caller), remediation_id)


def rate(
    caller: Caller, remediation_id: str, outcome: Outcome, *, instead_of: Outcome | None = None
) -> Remediation:
    """Count an outcome; `instead_of` is the caller's earlier rating, which it replaces."""
    remediation = get(caller, remediation_id)
    notes.rated(helped=outcome == "worked")
    rated = Remediation.objects.filter(pk=remediation.pk)
    rated.update(**counts_after(outcome, instead_of))
    return get(caller, remediation_id)


def counts_after(outcome: Outcome, instead_of: Outcome | None) -> dict[str, Any]:
    """Return the changed counts of a record whose rating may replace an earlier one."""
    counts: dict[str, Any] = {outcome: F(outcome) + 1}
    if instead_of:  # the record may have been created again since
        counts[instead_of] = Greatest(F(instead_of) - 1, 0)
    return counts


def delete(caller: Caller, remediation_id: str) -> None:
    """Delete the remediation and its index entries."""
    with limits.transaction():
        remediation = _locked(caller, remediation_id)
        search.forget(DOMAIN, [remediation.pk])
        remediation.delete()
        announce("resources")


def address_of(remediation: Remediation) -> str:
    return f"{DOMAIN}://{remediation.pk}"


def as_text(remediation: Remediation) -> str:
    """Format for reading: the error, its facts, and the fix."""
    lines = [
        f"{remediation.error_type}: {remediation.error_message}",
        f"seen {remediation.seen_count} times, worked {remediation.worked} times, "
        f"did not work {remediation.did_not_work} times, last {remediation.last_seen_at:%Y-%m-%d}",
        *(f"{key}: {value}" for key, value in remediation.context.items()),
    ]
    if remediation.tags:
        lines.append(f"tags: {', '.join(remediation.tags)}")
    if remediation.stack_trace:
        lines += ["", remediation.stack_trace]
    return "\n".join([*lines, "", "Solution:", remediation.solution])


@completer("remediation_id")
def ids_that_start_with(caller: Caller, typed: str) -> list[str]:
    newest = Remediation.objects.visible_to(caller).values_list("pk", flat=True)
    return [str(pk) for pk in newest[:1000] if str(pk).startswith(typed)]

"""Take feedback on a diagnosis: update success rates, and offer the fix as a remediation."""

from dataclasses import dataclass
from typing import Any

from contextd import limits, notes, projects
from contextd.callers import Caller
from contextd.errors import Invalid, NotAllowed, NotFound
from contextd.models import get_record
from remediations import services as remediations
from remediations.models import Remediation
from remediations.services import Outcome
from troubleshoot import services
from troubleshoot.hypotheses import OF_PAST_FIX
from troubleshoot.models import Diagnosis, Pattern

Status = Diagnosis.Status
SAVING = ("remediation_save", "remediations:remediation_save")


@dataclass(frozen=True, slots=True)
class Rated:
    session_id: str
    status: str
    hypothesis: str | None
    success_rate: float | None
    remediation_id: str | None
    offer: dict[str, Any] | None
    notice: str | None


def rate(
    caller: Caller,
    *,
    session_id: str,
    worked: bool,
    hypothesis: str | None,
    fixed_by: str,
    save: bool,
    project_path: str | None,
    git_remote: str | None,
) -> Rated:
    """Record feedback; of each hypothesis the last one replaces the former."""
    if save:
        _may_save(caller, fixed_by)
    with limits.transaction():
        visible = Diagnosis.objects.visible_to(caller).select_for_update()
        diagnosis = get_record(visible, session_id)
        rated = _named(diagnosis, hypothesis)
        success_rate = _judge(caller, diagnosis, rated, worked) if rated else None
        _close(diagnosis, worked, fixed_by)
        # After the remediation that may be rated with it: what was searched for is the diagnosis.
        notes.used(services.DIAGNOSIS, diagnosis.pk, None)
        notes.rated(helped=worked and rated is not None)
    offer = offer_of(diagnosis, git_remote) if fixed_by.strip() else None
    saved = _save(caller, diagnosis, offer, project_path) if offer and save else None
    return Rated(
        session_id=str(diagnosis.pk),
        status=diagnosis.status,
        hypothesis=rated,
        success_rate=success_rate,
        remediation_id=str(saved.remediation.pk) if saved else None,
        offer=None if saved else offer,
        notice=_notice(diagnosis, rated, saved),
    )


def _may_save(caller: Caller, fixed_by: str) -> None:
    if not fixed_by.strip():
        raise Invalid("fixed_by is required to save a remediation", field="fixed_by")
    if not caller.entry.has_tool(*SAVING):
        raise NotAllowed(
            f"save: the context {caller.context!r} does not contain the tool {SAVING[0]}; without "
            "save the remediation is only offered"
        )


def _named(diagnosis: Diagnosis, hypothesis: str | None) -> str | None:
    """Return the rated hypothesis, by default the root cause; None if that is unknown."""
    if hypothesis is None:
        best = services.progress(diagnosis).narrowed.best
        return best.id if best else None
    if hypothesis not in (one["id"] for one in diagnosis.hypotheses):
        names = _ids(diagnosis) or "it has none"
        raise Invalid(
            f"hypothesis {hypothesis!r} is not one of this session: {names}", field="hypothesis"
        )
    return hypothesis


def _ids(diagnosis: Diagnosis) -> str:
    return ", ".join(one["id"] for one in diagnosis.hypotheses)


def _notice(
    diagnosis: Diagnosis, rated: str | None, saved: remediations.Saved | None
) -> str | None:
    notices = [saved.notice] if saved and saved.notice else []
    if rated is None:
        notices.append("No hypothesis was rated, since the root cause is unknown.")
    if rated is None and diagnosis.hypotheses:
        notices.append(f"To rate one, set hypothesis: {_ids(diagnosis)}")
    return " ".join(notices) or None


def _judge(caller: Caller, diagnosis: Diagnosis, hypothesis: str, worked: bool) -> float | None:
    before = diagnosis.verdicts.get(hypothesis)
    diagnosis.verdicts = {**diagnosis.verdicts, hypothesis: worked}
    outcome, former = _outcome(worked), None if before is None else _outcome(before)
    if hypothesis.startswith(OF_PAST_FIX):
        remediation_id = hypothesis.removeprefix(OF_PAST_FIX)
        return _judge_remediation(caller, remediation_id, outcome, former)
    return _judge_pattern(hypothesis, outcome, former)


def _judge_pattern(key: str, outcome: Outcome, former: Outcome | None) -> float | None:
    rated = Pattern.objects.filter(key=key)
    if outcome != former:
        rated.update(**remediations.counts_after(outcome, former))
    pattern = rated.first()
    return round(pattern.success_rate, 3) if pattern else None


def _judge_remediation(
    caller: Caller, remediation_id: str, outcome: Outcome, former: Outcome | None
) -> float | None:
    try:
        if outcome == former:
            return remediations.get(caller, remediation_id).confidence
        return remediations.rate(caller, remediation_id, outcome, instead_of=former).confidence
    except NotFound:  # deleted since
        return None


def _outcome(worked: bool) -> Outcome:
    return "worked" if worked else "did_not_work"


def _close(diagnosis: Diagnosis, worked: bool, fixed_by: str) -> None:
    diagnosis.fixed_by = fixed_by.strip() or diagnosis.fixed_by
    is_solved = worked or bool(diagnosis.fixed_by) or any(diagnosis.verdicts.values())
    diagnosis.status = Status.SOLVED if is_solved else Status.UNSOLVED
    diagnosis.save(update_fields=["verdicts", "status", "fixed_by", "updated_at"])


def offer_of(diagnosis: Diagnosis, git_remote: str | None) -> dict[str, Any]:
    """The arguments for saving the fix."""
    remote = {projects.GIT_REMOTE_KEY: git_remote} if git_remote else {}
    return {
        "error_message": diagnosis.error_message,
        "error_type": diagnosis.error_type or "Error",
        "solution": diagnosis.fixed_by,
        "stack_trace": diagnosis.stack_trace,
        "context": {**diagnosis.facts, **remote},
        "tags": diagnosis.tags,
    }


def _save(
    caller: Caller, diagnosis: Diagnosis, offer: dict[str, Any], project_path: str | None
) -> remediations.Saved:
    """Save the fix, unless this session has saved it before."""
    if before := _saved_before(caller, diagnosis):
        return remediations.Saved(before, notice=None)
    saved = remediations.save(caller, project_path=project_path, severity=None, **offer)
    Diagnosis.objects.filter(pk=diagnosis.pk).update(remediation_id=saved.remediation.pk)
    return saved


def _saved_before(caller: Caller, diagnosis: Diagnosis) -> Remediation | None:
    if diagnosis.remediation_id is None:
        return None
    try:
        saved = remediations.get(caller, str(diagnosis.remediation_id))
    except NotFound:  # deleted since
        return None
    is_same = saved.solution_digest == remediations.digest_of(diagnosis.fixed_by)
    return saved if is_same else None

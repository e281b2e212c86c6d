"""Diagnose errors, continue a diagnosis check by check, and list the known causes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.db.models import F, QuerySet
from django.db.models.lookups import GreaterThanOrEqual
from django.utils import timezone

from contextd import limits, notes, search, shipped
from contextd.callers import Caller
from contextd.errors import Invalid, NotFound
from contextd.models import get_record
from contextd.status import Unhealthy, has_records, health_check
from remediations import services as remediations
from troubleshoot import general, hypotheses, library, matching, narrowing, similar, symptoms
from troubleshoot.hypotheses import Action, Check, Hypothesis
from troubleshoot.models import SUCCESS_RATE, Diagnosis, Pattern
from troubleshoot.narrowing import Narrowed, Outcome
from troubleshoot.similar import KnownError, SimilarIssue
from troubleshoot.symptoms import Symptom

DIAGNOSIS = "diagnosis"
UNKNOWN = "Unknown: nothing that is known fits this error well."
MAKE_SURE = "Make sure that it is this"
LOOK = "Look at this; by itself it does not prove the cause"

FIX_MATCHES = 0.6
SHOWN_FIELDS = [
    *("title", "cause", "confirm", "fix", "category", "severity", "technologies", "versions"),
    *(
        "errors",
        "signatures",
        "confused_with",
        "tags",
        "references",
        "origin",
        "used_count",
        "worked",
    ),
    *("did_not_work", "success_rate", "last_used_at", "updated_at"),
]
"""The fields of a pattern that people see."""
Status = Diagnosis.Status


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """An error as the caller reports it."""

    error_message: str
    stack_trace: str = ""
    context: Mapping[str, str] = field(default_factory=dict)
    category: str | None = None
    tags: Sequence[str] = ()
    mode: str = "auto"
    top_k: int = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """The diagnosis of a report; `outcomes` are those of checks already made."""

    report: ErrorReport
    symptom: Symptom
    hypotheses: list[Hypothesis]
    similar: list[SimilarIssue]
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    @property
    def narrowed(self) -> Narrowed:
        return narrowing.narrow(self.hypotheses, self.outcomes)

    @property
    def best(self) -> Hypothesis | None:
        return self.narrowed.best

    @property
    def confidence(self) -> float:
        return self.narrowed.confidence

    @property
    def category(self) -> str:
        if self.best:
            return self.best.category
        return self.report.category or general.category_of(self.symptom.kind)

    @property
    def severity(self) -> str:
        return self.best.severity if self.best else "medium"

    @property
    def root_cause(self) -> str:
        if self.best:
            return self.best.conclusion
        kind = f" It is of the kind “{self.symptom.kind}”." if self.symptom.kind else ""
        return f"{UNKNOWN}{kind}{_nearest(self.narrowed)}"

    @property
    def actions(self) -> list[Action]:
        return recommended(self.best) if self.best else general_actions(self.category)

    @property
    def diagnostic_steps(self) -> list[str]:
        """Return how to confirm the best hypothesis, or general steps for an unknown error."""
        if self.best is None:
            return list(general.steps(self.category))
        return self.best.verification_steps

    def noticing(self, *notices: str | None) -> "Answer":
        return replace(self, notices=(*self.notices, *(one for one in notices if one)))


def _nearest(narrowed: Narrowed) -> str:
    """Name the likeliest of what is left, although too little supports it."""
    if not narrowed.hypotheses:
        return ""
    return f" Nearest known: “{narrowed.hypotheses[0].description}”."


def recommended(hypothesis: Hypothesis) -> list[Action]:
    """Return a check of the hypothesis, then its fix, destructive steps last."""
    checks = [check for check in hypothesis.checks if check.about == hypothesis.id and check.run]
    sure = [
        Action(
            description=MAKE_SURE if check.conclusive else LOOK,
            command=check.run,
            placeholders=check.placeholders,
            expected_outcome=check.expect,
            suggested_by=check.suggested_by,
        )
        for check in narrowing.in_order_of_use(checks)[:1]
    ]
    return [*sure, *hypothesis.actions]


def general_actions(category: str) -> list[Action]:
    """Return general steps for an unknown error."""
    return [Action(description=step) for step in (*general.steps(category), general.REMEMBER)]


def register_for_search() -> None:
    shipped.register(library.LIBRARY)
    search.register_records(
        library.DOMAIN,
        "Patterns",
        Pattern,
        found_by="list_patterns",
        fields=SHOWN_FIELDS,
        use_is_known=False,
    )


@health_check("troubleshoot")
def probe() -> None:
    """Check that there are patterns."""
    if not has_records(Pattern.objects.published(), "patterns"):
        raise Unhealthy("there are no patterns; run manage.py load_shipped")


def diagnose(caller: Caller, report: ErrorReport) -> Answer:
    """Find possible causes, from all patterns and the past fixes that the caller may see."""
    symptom = symptoms.read(
        report.error_message, report.stack_trace, facts=report.context, tags=report.tags
    )
    matches = matching.find(symptom, category=report.category, tags=report.tags)
    fixes = remediations.find(
        caller,
        error_message=report.error_message,
        stack_trace=report.stack_trace,
        limit=report.top_k,
        min_score=FIX_MATCHES,
        tags=(),
    )
    return Answer(
        report=report,
        symptom=symptom,
        hypotheses=hypotheses.form(symptom, matches.matches, fixes.matches),
        similar=similar.issues(matches.matches, fixes.matches, report.top_k),
    ).noticing(matches.notice or fixes.notice)


def keep(caller: Caller, answer: Answer) -> Diagnosis:
    """Store the session, so that it can be continued and rated."""
    report = answer.report
    with limits.transaction():
        if answer.best:
            _count_use(answer.best.id)
        diagnosis = Diagnosis.objects.create(
            principal=caller.principal,
            context=caller.context,
            error_message=report.error_message,
            stack_trace=report.stack_trace,
            error_type=answer.symptom.read.error_type[:200],
            facts=dict(report.context),
            category=answer.category,
            tags=list(dict.fromkeys(report.tags)),
            mode=report.mode,
            hypotheses=[one.model_dump() for one in answer.hypotheses],
            answers=dict(answer.outcomes),
        )
    notes.answered(DIAGNOSIS, [diagnosis.pk] if answer.hypotheses else [])
    return diagnosis


def _count_use(hypothesis_id: str) -> None:
    used = Pattern.objects.filter(key=hypothesis_id)
    used.update(used_count=F("used_count") + 1, last_used_at=timezone.now())


def get(caller: Caller, session_id: str) -> Diagnosis:
    return get_record(Diagnosis.objects.visible_to(caller), session_id)


@dataclass(frozen=True, slots=True)
class Progress:
    """A session, and what is left of its hypotheses."""

    diagnosis: Diagnosis
    narrowed: Narrowed

    @property
    def confidence(self) -> float:
        return self.narrowed.confidence

    @property
    def root_cause(self) -> str:
        if best := self.narrowed.best:
            return best.conclusion
        if not self.narrowed.hypotheses:
            return "Unknown: every hypothesis is ruled out."
        return f"{UNKNOWN}{_nearest(self.narrowed)}"

    @property
    def actions(self) -> list[Action]:
        """Empty while there is still something to check."""
        if self.narrowed.next_check:
            return []
        best = self.narrowed.best
        return best.actions if best else general_actions(self.diagnosis.category)


def progress(diagnosis: Diagnosis) -> Progress:
    formed = [Hypothesis.model_validate(one) for one in diagnosis.hypotheses]
    return Progress(diagnosis, narrowing.narrow(formed, diagnosis.answers))


def proceed(caller: Caller, *, session_id: str, check: str, outcome: Outcome) -> Progress:
    """Record the outcome of a check; a repetition changes nothing, another outcome replaces it."""
    with limits.transaction():
        visible = Diagnosis.objects.visible_to(caller).select_for_update()
        diagnosis = get_record(visible, session_id)
        made = _check_of(diagnosis, check)
        diagnosis.answers = {**diagnosis.answers, made.id: outcome}
        diagnosis.save(update_fields=["answers", "updated_at"])
    return progress(diagnosis)


def _check_of(diagnosis: Diagnosis, check_id: str) -> Check:
    narrowed = progress(diagnosis).narrowed
    formed = [*narrowed.hypotheses, *narrowed.ruled_out]
    known = {check.id: check for one in formed for check in one.checks}
    if check_id not in known:
        names = ", ".join(list(known)[:20]) or "none"
        raise Invalid(f"check {check_id!r} is not one of this session: {names}", field="check")
    return known[check_id]


@dataclass(frozen=True, slots=True)
class Listed:
    patterns: list[KnownError]
    total: int


def list_patterns(
    caller: Caller,
    *,
    category: str | None,
    severity: str | None,
    min_success_rate: float,
    limit: int,
) -> Listed:
    """Return patterns, the most successful first."""
    given = {"category": category, "severity": severity}
    wanted = {name: value for name, value in given.items() if value}
    is_successful = GreaterThanOrEqual(SUCCESS_RATE, min_success_rate)
    patterns = ranked(caller).filter(is_successful, **wanted)
    return Listed(list(map(similar.known_error, patterns[:limit])), patterns.count())


def ranked(caller: Caller) -> QuerySet[Pattern]:
    """Return all patterns, the most successful first."""
    visible = Pattern.objects.visible_to(caller)
    return visible.order_by(SUCCESS_RATE.desc(), "-used_count", "key")


def get_pattern(caller: Caller, key: str) -> Pattern:
    pattern = Pattern.objects.visible_to(caller).filter(key=key).first()
    if pattern is None:
        raise NotFound(f"there is no pattern {key!r}; list_patterns shows all", id=key)
    return pattern


def ids_with(caller: Caller, typed: str) -> list[str]:
    """Return the ids that contain what was typed, those of the most successful first."""
    return list(ranked(caller).filter(key__contains=typed).values_list("key", flat=True))

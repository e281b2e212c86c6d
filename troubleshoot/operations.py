"""The troubleshooting operations."""

import time
from datetime import datetime
from typing import Annotated

from pydantic import Field

from contextd.callers import Caller
from contextd.conversations import Conversation
from contextd.operations import Rate, Request, Result, Written, operation
from contextd.validation import (
    METADATA_LIMITS,
    AbsolutePath,
    Clamp,
    ErrorMessage,
    Filled,
    GitRemote,
    Limit,
    Metadata,
    Notice,
    RecordId,
    Tags,
    Text,
)
from troubleshoot import hypotheses, interview, narrowing, rating, services
from troubleshoot.interview import Mode
from troubleshoot.knowledge import CategoryName, SeverityName
from troubleshoot.narrowing import Outcome
from troubleshoot.similar import level_of

Placeholders = Annotated[
    list[str],
    Field(description="Words in the command that you must replace by values of your own"),
]
SessionId = Annotated[RecordId, Field(description="session_id that troubleshoot answered")]
Probability = Annotated[
    float, Field(description="Strength of the evidence, 0 to 1; not adding up to one")
]
Confidence = Annotated[str, Field(description="high, medium or low")]
IsDestructive = Annotated[bool, Field(description="Its fix destroys something")]


class Troubleshoot(Request):
    """Find out why something fails and what to do; pass the error as it was printed."""

    error_message: ErrorMessage
    stack_trace: Annotated[
        Text, Field(max_length=50_000, description="Stack trace or log around the error")
    ] = ""
    context: Annotated[
        Metadata,
        Field(
            description=f"Facts such as versions, operating system, what changed. {METADATA_LIMITS}"
        ),
    ] = {}
    category: Annotated[
        CategoryName | None, Field(description="Suspected kind of cause, if any")
    ] = None
    mode: Annotated[
        Mode,
        Field(
            description="auto: all at once. guided: one check at a time, by troubleshoot_continue. "
            "interactive: asks the person, if the client can"
        ),
    ] = "auto"
    tags: Annotated[Tags, Field(description="Technologies and topics, up to 20")] = []
    top_k: Annotated[
        int, Clamp(1, 50), Field(description="Maximum number of similar issues, 1 to 50")
    ] = 5


class Hypothesis(Result):
    id: Annotated[str, Field(description="For troubleshoot_feedback")]
    description: str
    probability: Probability
    evidence: Annotated[list[str], Field(description="Evidence for it")]
    category: str
    severity: str
    verification_steps: Annotated[
        list[str], Field(description="How to confirm it and rule out the others")
    ]


class SimilarIssue(Result):
    id: str
    source: Annotated[str, Field(description="pattern: known cause; remediation: saved fix")]
    error_pattern: str
    root_cause: str
    solution: str
    match_score: Annotated[float, Field(description="Probability of the same cause, 0 to 1")]
    semantic_score: Annotated[float, Field(description="Similarity in meaning, 0 to 1")]
    success_rate: Annotated[float, Field(description="Of its fix, 0 to 1; 0.5 if unrated")]
    severity: str
    category: str
    tags: list[str]
    confidence: Confidence
    is_destructive: IsDestructive
    safety_warnings: list[str]


class RecommendedAction(Result):
    step: int
    description: str
    commands: list[str]
    placeholders: Placeholders = []
    expected_outcome: str
    destructive: Annotated[bool, Field(description="Ask the person before you run it")]
    safety_notes: str


class NextCheck(Result):
    id: str
    hypothesis: Annotated[str, Field(description="The hypothesis that it speaks for")]
    command: Annotated[str, Field(description="To run; empty where it is something to look at")]
    placeholders: Placeholders = []
    expected: Annotated[str, Field(description="What is seen when the hypothesis is right")]
    conclusive: Annotated[
        bool, Field(description="False if its outcome hardly counts and cannot settle the cause")
    ] = True
    suggested_by: Annotated[
        str,
        Field(description="Language model, if only that suggests it: read it before you run it"),
    ] = ""


class Diagnosed(Written):
    session_id: Annotated[str, Field(description="For troubleshoot_continue and _feedback")]
    root_cause: str
    confidence: Confidence
    confidence_score: Annotated[float, Field(description="0 to 1; low for unknown errors")]
    category: str
    severity: str
    hypotheses: list[Hypothesis]
    similar_issues: list[SimilarIssue]
    recommended_actions: list[RecommendedAction]
    diagnostic_steps: list[str]
    next_check: Annotated[NextCheck | None, Field(description="The check to make now")] = None
    time_taken_ms: float
    diagnosed_at: datetime
    notice: Notice = None


@operation("troubleshoot", effect="write", timeout=60, rate=Rate(2, burst=5), atomic=False)
async def troubleshoot(caller: Caller, request: Troubleshoot, talk: Conversation) -> Diagnosed:
    started = time.perf_counter()
    found = await interview.troubleshoot(caller, services.ErrorReport(**dict(request)), talk)
    return as_diagnosed(found, milliseconds=(time.perf_counter() - started) * 1000)


def as_diagnosed(found: interview.StoredAnswer, milliseconds: float) -> Diagnosed:
    answer, narrowed = found.answer, found.answer.narrowed
    return Diagnosed(
        session_id=str(found.diagnosis.pk),
        root_cause=answer.root_cause,
        confidence=level_of(answer.confidence),
        confidence_score=round(answer.confidence, 3),
        category=answer.category,
        severity=answer.severity,
        hypotheses=list(map(as_hypothesis, narrowed.hypotheses)),
        similar_issues=[SimilarIssue.model_validate(issue) for issue in answer.similar],
        recommended_actions=as_actions(answer.actions),
        diagnostic_steps=answer.diagnostic_steps,
        next_check=as_check(narrowed) if found.is_guided else None,
        time_taken_ms=round(milliseconds, 1),
        diagnosed_at=found.diagnosis.created_at,
        notice=" ".join(answer.notices) or None,
    )


def as_hypothesis(hypothesis: hypotheses.Hypothesis) -> Hypothesis:
    rounded = round(hypothesis.probability, 3)
    return Hypothesis.model_validate(hypothesis).model_copy(update={"probability": rounded})


def as_actions(actions: list[hypotheses.Action]) -> list[RecommendedAction]:
    return [
        RecommendedAction(
            step=number,
            description=action.description,
            commands=[action.command] if action.command else [],
            placeholders=action.placeholders,
            expected_outcome=action.expected_outcome,
            destructive=action.destructive,
            safety_notes=action.safety_notes,
        )
        for number, action in enumerate(actions, 1)
    ]


def as_check(narrowed: narrowing.Narrowed) -> NextCheck | None:
    check = narrowed.next_check
    if check is None:
        return None
    return NextCheck(
        id=check.id,
        hypothesis=check.about,
        command=check.run,
        placeholders=check.placeholders,
        expected=check.expect,
        conclusive=check.conclusive,
        suggested_by=check.suggested_by,
    )


class ContinueTroubleshooting(Request):
    """Report the outcome of a check in a guided troubleshooting; get the next check."""

    session_id: SessionId
    check: Annotated[
        Filled,
        Field(max_length=200, description="Id of next_check, or of an earlier one to correct it"),
    ]
    outcome: Annotated[Outcome, Field(description="Whether the expected result was seen")]


class Narrowed(Written):
    session_id: str
    root_cause: Annotated[
        str, Field(description="Root cause of the most likely remaining hypothesis")
    ]
    is_settled: Annotated[
        bool, Field(description="One hypothesis remains; nothing is left to check")
    ]
    confidence: Confidence
    confidence_score: float
    hypotheses: list[Hypothesis]
    ruled_out: Annotated[list[str], Field(description="Hypotheses that have been ruled out")]
    next_check: NextCheck | None
    recommended_actions: Annotated[
        list[RecommendedAction],
        Field(description="Actions, once settled or nothing is left to check"),
    ]


@operation("troubleshoot_continue", effect="write", timeout=10)
def proceed(caller: Caller, request: ContinueTroubleshooting) -> Narrowed:
    return as_narrowed(services.proceed(caller, **dict(request)))


def as_narrowed(progress: services.Progress) -> Narrowed:
    narrowed = progress.narrowed
    return Narrowed(
        session_id=str(progress.diagnosis.pk),
        root_cause=progress.root_cause,
        is_settled=narrowed.standing is not None,
        confidence=level_of(progress.confidence),
        confidence_score=round(progress.confidence, 3),
        hypotheses=list(map(as_hypothesis, narrowed.hypotheses)),
        ruled_out=[one.description for one in narrowed.ruled_out],
        next_check=as_check(narrowed),
        recommended_actions=as_actions(progress.actions),
    )


class RateDiagnosis(Request):
    """Report whether a hypothesis of a troubleshooting was right and its fix worked."""

    session_id: SessionId
    worked: Annotated[
        bool,
        Field(
            description="The fix of this hypothesis removed the error; false if something else did"
        ),
    ]
    hypothesis: Annotated[
        Filled | None,
        Field(max_length=100, description="Id of the hypothesis; default: the root cause"),
    ] = None
    fixed_by: Annotated[
        Text, Field(max_length=20_000, description="What fixed the error: cause, commands, code")
    ] = ""
    save: Annotated[
        bool, Field(description="Save fixed_by as a remediation, not only offer it")
    ] = False
    project_path: Annotated[
        AbsolutePath | None,
        Field(description="Project of that remediation; default: shared by all"),
    ] = None
    git_remote: GitRemote = None


class OfferedRemediation(Result):
    """The arguments for remediation_save."""

    error_message: str
    error_type: str
    solution: str
    stack_trace: str
    context: dict[str, str]
    tags: list[str]


class DiagnosisRated(Written):
    session_id: str
    status: Annotated[str, Field(description="solved, unsolved or open")]
    hypothesis: Annotated[str | None, Field(description="The rated hypothesis; null if none was")]
    success_rate: Annotated[
        float | None, Field(description="Of its fix, by all ratings; null if none are kept")
    ]
    remediation_id: Annotated[str | None, Field(description="Id of the saved fix")] = None
    offer: Annotated[
        OfferedRemediation | None,
        Field(description="Save it with remediation_save if it is right"),
    ] = None
    notice: Notice = None


@operation("troubleshoot_feedback", effect="write", timeout=30, atomic=False)
def feedback(caller: Caller, request: RateDiagnosis) -> DiagnosisRated:
    return DiagnosisRated.model_validate(rating.rate(caller, **dict(request)))


class ListPatterns(Request):
    """Browse the known errors and their causes."""

    category: Annotated[CategoryName | None, Field(description="Only of this category")] = None
    severity: Annotated[SeverityName | None, Field(description="Only of this severity")] = None
    min_success_rate: Annotated[
        float, Clamp(0, 1), Field(description="Minimum success rate, 0 to 1; unrated: 0.5")
    ] = 0.0
    limit: Limit = 10


class PatternSummary(Result):
    id: str
    title: str
    error_pattern: str
    category: str
    severity: str
    root_cause: str
    solution: str
    success_rate: Annotated[float, Field(description="(worked + 1) / (tried + 2)")]
    tried: Annotated[int, Field(description="Number of ratings")]
    tags: list[str]
    is_destructive: IsDestructive
    safety_warnings: list[str]
    usage_count: Annotated[int, Field(description="Times it was the most likely cause")]
    last_used: datetime | None


class PatternList(Result):
    patterns: list[PatternSummary]
    total: Annotated[int, Field(description="Number of matches; `limit` of them are shown")]


@operation("list_patterns", effect="read", timeout=5)
def list_patterns(caller: Caller, request: ListPatterns) -> PatternList:
    return PatternList.model_validate(services.list_patterns(caller, **dict(request)))

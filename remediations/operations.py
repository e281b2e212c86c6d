"""The remediation operations."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from contextd.callers import Caller
from contextd.operations import Request, Result, Written, operation
from contextd.validation import (
    METADATA_LIMITS,
    AbsolutePath,
    Clamp,
    ErrorMessage,
    Filled,
    Limit,
    Metadata,
    Notice,
    RecordId,
    Tags,
    Text,
)
from remediations import services

ErrorType = Annotated[
    Filled,
    Field(
        max_length=200, description="Type or code of the error, such as KeyError or ECONNREFUSED"
    ),
]
Solution = Annotated[
    Filled, Field(max_length=20_000, description="The fix: cause, commands, changed code")
]
StackTrace = Annotated[
    Text, Field(max_length=50_000, description="Stack trace printed with the error")
]
Context = Annotated[
    Metadata,
    Field(
        description="Key-value facts, such as versions and branch; values are kept as text. "
        "git_remote, the output of `git remote get-url origin`, names the project in every clone. "
        f"{METADATA_LIMITS}"
    ),
]
Labels = Annotated[Tags, Field(description="Labels, up to 20 of 50 characters")]
RemediationId = Annotated[RecordId, Field(description="Id of the remediation")]
Severity = Literal["low", "medium", "high", "critical"]


class SaveRemediation(Request):
    """Save how an error was fixed, so that nobody has to solve it again."""

    error_message: ErrorMessage
    error_type: ErrorType
    solution: Solution
    project_path: Annotated[
        AbsolutePath | None,
        Field(
            description="Project (absolute path) that callers must be allowed to see to find it; "
            "by default all callers find it, in every project"
        ),
    ] = None
    context: Context = {}
    tags: Labels = []
    severity: Annotated[Severity | None, Field(description="How bad the error is")] = None
    stack_trace: StackTrace = ""


class RemediationSaved(Written):
    id: str
    error_message: str
    error_type: str
    solution: str
    created_at: datetime
    seen_count: Annotated[int, Field(description="How often this error was fixed this way")]
    notice: Notice = None


@operation("remediation_save", effect="write", timeout=30, atomic=False)
def save(caller: Caller, request: SaveRemediation) -> RemediationSaved:
    return as_saved(services.save(caller, **dict(request)))


class UpdateRemediation(Request):
    """Correct a saved remediation; omitted fields stay as they are."""

    id: RemediationId
    error_message: Annotated[ErrorMessage | None, Field(description="New error message")] = None
    error_type: Annotated[ErrorType | None, Field(description="New type")] = None
    solution: Annotated[
        Solution | None, Field(description="New solution; another fix starts without ratings")
    ] = None
    context: Annotated[
        Context | None,
        Field(description=f"New key-value facts; values are kept as text. {METADATA_LIMITS}"),
    ] = None
    tags: Annotated[Labels | None, Field(description="New labels")] = None
    severity: Annotated[
        Severity | Literal[""] | None, Field(description="New severity; empty for none")
    ] = None
    stack_trace: Annotated[StackTrace | None, Field(description="New stack trace")] = None


@operation("remediation_update", effect="write", timeout=30, atomic=False)
def update(caller: Caller, request: UpdateRemediation) -> RemediationSaved:
    return as_saved(services.update(caller, request.id, **request.model_dump(exclude={"id"})))


def as_saved(saved: services.Saved) -> RemediationSaved:
    detail = RemediationDetail.model_validate(saved.remediation)
    return RemediationSaved(
        **detail.model_dump(include=set(RemediationSaved.model_fields)), notice=saved.notice
    )


class SearchRemediations(Request):
    """Find how this or a similar error was fixed before; search before you debug."""

    error_message: ErrorMessage
    stack_trace: Annotated[
        StackTrace, Field(description="Stack trace of the error, for better matches")
    ] = ""
    limit: Limit = 5
    min_score: Annotated[
        float, Clamp(0, 1), Field(description="Minimum match of results, 0 to 1")
    ] = services.FITS
    tags: Annotated[Labels, Field(description="Only remediations with all of these labels")] = []


class RemediationMatch(Result):
    id: Annotated[str, Field(coerce_numbers_to_str=True)]
    error_message: str
    error_type: str
    solution: str
    tags: list[str]
    match_score: Annotated[
        float, Field(description="0.7 semantic_score + 0.3 string_score; results are sorted by it")
    ]
    semantic_score: Annotated[float, Field(description="Similarity in meaning, 0 to 1")]
    string_score: Annotated[float, Field(description="Similarity in wording, 0 to 1")]
    stack_trace_match: Annotated[bool, Field(description="Whether the stack traces are similar")]
    error_type_match: Annotated[
        bool, Field(description="Whether the error types are equal or related")
    ]
    context: dict[str, str]
    created_at: datetime
    seen_count: int
    worked: Annotated[int, Field(description="How often it was reported to work")]
    did_not_work: int
    outdated: int


class RemediationMatches(Result):
    results: list[RemediationMatch]
    query: Annotated[str, Field(description="The error message searched for")]
    total: Annotated[int, Field(description="Number of results")]
    notice: Notice = None


@operation("remediation_search", effect="read", timeout=10, atomic=False)
def search(caller: Caller, request: SearchRemediations) -> RemediationMatches:
    found = services.find(caller, **dict(request))
    return RemediationMatches(
        results=[as_match(match) for match in found.matches],
        query=request.error_message,
        total=len(found.matches),
        notice=found.notice,
    )


def as_match(match: services.Match) -> RemediationMatch:
    detail = RemediationDetail.model_validate(match.remediation)
    return RemediationMatch(
        **detail.model_dump(include=set(RemediationMatch.model_fields)),
        match_score=match.scores.match,
        semantic_score=match.scores.semantic,
        string_score=match.scores.string,
        stack_trace_match=match.scores.same_stack,
        error_type_match=match.scores.same_type,
    )


class GetRemediation(Request):
    """Read one complete remediation."""

    id: RemediationId


class RemediationDetail(Result):
    id: Annotated[str, Field(coerce_numbers_to_str=True)]
    error_message: str
    error_type: str
    solution: str
    stack_trace: str
    context: dict[str, str]
    tags: list[str]
    severity: Annotated[str, Field(description="Severity of the error; empty if unknown")]
    seen_count: Annotated[int, Field(description="How often this error was fixed this way")]
    last_seen_at: datetime
    worked: Annotated[int, Field(description="How often it was reported to work")]
    did_not_work: int
    outdated: int
    created_by: str
    created_at: datetime
    updated_at: datetime


@operation("remediation_get", effect="read", timeout=5)
def get(caller: Caller, request: GetRemediation) -> RemediationDetail:
    return RemediationDetail.model_validate(services.get(caller, request.id))


class RateRemediation(Request):
    """Report whether a remediation helped, so that good ones rank first and bad ones last."""

    id: RemediationId
    outcome: Annotated[services.Outcome, Field(description="Outcome of applying it")]


class RemediationRated(Written):
    id: Annotated[str, Field(coerce_numbers_to_str=True)]
    worked: int
    did_not_work: int
    outdated: int
    confidence: Annotated[
        float, Field(description="Probability that it works, from all feedback; 0.5 without any")
    ]


@operation("remediation_feedback", effect="write", timeout=5)
def feedback(caller: Caller, request: RateRemediation) -> RemediationRated:
    return RemediationRated.model_validate(services.rate(caller, request.id, request.outcome))


class DeleteRemediation(Request):
    """Delete a remediation permanently."""

    id: RemediationId


class RemediationDeleted(Result):
    id: str
    message: str


@operation("remediation_delete", effect="delete", timeout=30)
def delete(caller: Caller, request: DeleteRemediation) -> RemediationDeleted:
    services.delete(caller, request.id)
    return RemediationDeleted(id=request.id, message=f"remediation {request.id} is deleted")

"""The checkpoint operations."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from checkpoints import services
from contextd.callers import Caller
from contextd.operations import Request, Result, Written, operation
from contextd.validation import (
    METADATA_LIMITS,
    AbsolutePath,
    Filled,
    GitRemote,
    Limit,
    Metadata,
    Notice,
    Offset,
    OfProject,
    RecordId,
    Tags,
    Text,
)

Summary = Annotated[
    Filled, Field(max_length=500, description="What was done and what comes next, in a sentence")
]
Description = Annotated[
    Text,
    Field(max_length=5000, description="Decisions, open questions, files, commands: the details"),
]
ProjectPath = Annotated[AbsolutePath, Field(description="Absolute path of the project")]
CheckpointId = Annotated[RecordId, Field(description="Id of the checkpoint")]
Labels = Annotated[Tags, Field(description="Labels, up to 20 of 50 characters")]


class CheckpointDetail(Result):
    id: Annotated[str, Field(coerce_numbers_to_str=True)]
    summary: str
    description: str
    project_path: str
    context: dict[str, str]
    tags: list[str]
    created_at: datetime


class SaveCheckpoint(Request):
    """Save the state of this session, so that you or a teammate can resume it later."""

    summary: Summary
    project_path: ProjectPath
    description: Description = ""
    context: Annotated[
        Metadata,
        Field(
            description="Key-value facts, such as branch; git_remote, the output of `git remote "
            f"get-url origin`, names the project in every clone. {METADATA_LIMITS}"
        ),
    ] = {}
    tags: Labels = []


class CheckpointSaved(Written):
    id: str
    summary: str
    created_at: datetime
    token_count: Annotated[int, Field(description="Tokens as all-MiniLM-L6-v2 counts them")]
    notice: Notice = None


@operation("checkpoint_save", effect="write", timeout=30, atomic=False)
def save(caller: Caller, request: SaveCheckpoint) -> CheckpointSaved:
    saved = services.save(
        caller,
        summary=request.summary,
        description=request.description,
        project_path=request.project_path,
        context=request.context,
        tags=request.tags,
    )
    return as_saved(saved)


class UpdateCheckpoint(Request):
    """Correct a saved checkpoint; omitted fields stay as they are."""

    id: CheckpointId
    summary: Annotated[Summary | None, Field(description="New summary")] = None
    description: Annotated[Description | None, Field(description="New details")] = None
    context: Annotated[
        Metadata | None, Field(description=f"New key-value facts. {METADATA_LIMITS}")
    ] = None
    tags: Annotated[Tags | None, Field(description="New labels")] = None


@operation("checkpoint_update", effect="write", timeout=30, atomic=False)
def update(caller: Caller, request: UpdateCheckpoint) -> CheckpointSaved:
    return as_saved(services.update(caller, request.id, **request.model_dump(exclude={"id"})))


def as_saved(saved: services.Saved) -> CheckpointSaved:
    checkpoint = saved.checkpoint
    return CheckpointSaved(
        id=str(checkpoint.pk),
        summary=checkpoint.summary,
        created_at=checkpoint.created_at,
        token_count=checkpoint.token_count,
        notice=saved.notice,
    )


class SearchCheckpoints(Request):
    """Find earlier work and indexed files by words and meaning."""

    query: Annotated[Filled, Field(max_length=1000, description="What to look for")]
    top_k: Limit = 5
    project_path: OfProject = None
    git_remote: GitRemote = None
    tags: Annotated[Tags, Field(description="Only checkpoints with all of these labels")] = []
    kind: Annotated[
        services.Kind | None,
        Field(
            description="Only checkpoints or only indexed files; by default, up to half are files"
        ),
    ] = None


class CheckpointMatch(CheckpointDetail):
    kind: Annotated[
        services.Kind, Field(description="The id of a file is valid in this answer only")
    ]
    score: Annotated[float, Field(description="Relevance, 0 to 1; results are sorted by it")]
    distance: Annotated[
        float | None, Field(description="Cosine distance; null until it is embedded")
    ]


class CheckpointMatches(Result):
    results: list[CheckpointMatch]
    query: str
    top_k: int
    notice: Notice = None


@operation("checkpoint_search", effect="read", timeout=10, atomic=False)
def search(caller: Caller, request: SearchCheckpoints) -> CheckpointMatches:
    found = services.find(
        caller,
        query=request.query,
        limit=request.top_k,
        project_path=request.project_path,
        git_remote=request.git_remote,
        tags=request.tags,
        kind=request.kind,
    )
    results = [as_match(match) for match in found.matches]
    return CheckpointMatches(
        results=results, query=request.query, top_k=request.top_k, notice=found.notice
    )


def as_match(match: services.Match | services.FoundFile) -> CheckpointMatch:
    if isinstance(match, services.FoundFile):
        return CheckpointMatch.model_validate({**asdict(match), "kind": "file"})
    detail = CheckpointDetail.model_validate(match.checkpoint)
    return CheckpointMatch(
        **dict(detail), kind="checkpoint", score=match.score, distance=match.distance
    )


class ListCheckpoints(Request):
    """List recent checkpoints, newest first."""

    limit: Limit = 10
    offset: Offset = 0
    project_path: OfProject = None
    git_remote: GitRemote = None
    sort_by: Annotated[services.SortBy, Field(description="Order, newest first")] = "created_at"


class CheckpointList(Result):
    checkpoints: list[CheckpointDetail]
    total: int
    limit: int
    offset: int


@operation("checkpoint_list", effect="read", timeout=5)
def list_checkpoints(caller: Caller, request: ListCheckpoints) -> CheckpointList:
    page = services.recent(caller, **dict(request))
    return CheckpointList(
        checkpoints=[CheckpointDetail.model_validate(one) for one in page.checkpoints],
        total=page.total,
        limit=request.limit,
        offset=request.offset,
    )


class GetCheckpoint(Request):
    """Read one complete checkpoint."""

    id: CheckpointId


@operation("checkpoint_get", effect="read", timeout=5)
def get(caller: Caller, request: GetCheckpoint) -> CheckpointDetail:
    return CheckpointDetail.model_validate(services.get(caller, request.id))


class ResumeCheckpoint(Request):
    """Resume work from the newest checkpoint of a project, or from the given one."""

    project_path: Annotated[
        AbsolutePath | None, Field(description="Project whose newest checkpoint to resume")
    ] = None
    git_remote: GitRemote = None
    id: Annotated[RecordId | None, Field(description="Resume this checkpoint instead")] = None
    level: Annotated[
        Literal["summary", "context", "full"],
        Field(description="Detail: summary only, with context and tags, or everything"),
    ] = "full"


class ResumedCheckpoint(Result):
    id: str
    level: str
    summary: str
    project_path: str
    created_at: datetime
    context: dict[str, str] | None = None
    tags: list[str] | None = None
    description: str | None = None


FIELDS_BEYOND: dict[str, set[str]] = {
    "summary": {"context", "tags", "description"},
    "context": {"description"},
    "full": set(),
}


@operation("checkpoint_resume", effect="read", timeout=5)
def resume(caller: Caller, request: ResumeCheckpoint) -> ResumedCheckpoint:
    checkpoint = services.resume(caller, request.id, request.project_path, request.git_remote)
    detail = CheckpointDetail.model_validate(checkpoint)
    return ResumedCheckpoint(
        level=request.level, **detail.model_dump(exclude=FIELDS_BEYOND[request.level])
    )


class DeleteCheckpoint(Request):
    """Delete a checkpoint permanently."""

    id: CheckpointId


class CheckpointDeleted(Result):
    id: str
    message: str


@operation("checkpoint_delete", effect="delete", timeout=30)
def delete(caller: Caller, request: DeleteCheckpoint) -> CheckpointDeleted:
    services.delete(caller, request.id)
    return CheckpointDeleted(id=request.id, message=f"checkpoint {request.id} is deleted")

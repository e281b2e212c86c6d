"""The skill operations."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from contextd.callers import Caller
from contextd.operations import Rate, Request, Result, Written, operation
from contextd.validation import (
    AbsolutePath,
    Filled,
    GitRemote,
    Limit,
    Notice,
    Offset,
    RecordId,
    Text,
)
from skills import services, usage, wording

SkillId = Annotated[RecordId, Field(description="Id of the skill")]
OfCategory = Annotated[wording.Category | None, Field(description="Only skills of this category")]
Tagged = Annotated[wording.Tags, Field(description="Only skills with all of these labels")]
Note = Annotated[
    Text, Field(max_length=wording.NOTE_LENGTH, description="The reason, for the history")
]
State = Literal["draft", "published", "retired"]


class SkillDetail(Result):
    id: Annotated[str, Field(coerce_numbers_to_str=True)]
    name: str
    description: str
    content: str
    version: str
    author: str
    category: str
    prerequisites: list[str]
    expected_outcome: str
    tags: list[str]
    metadata: dict[str, str]
    usage_count: int
    success_rate: Annotated[
        float, Field(description="Share of rated uses that worked; 0 if none is rated")
    ]
    rated_count: Annotated[int, Field(description="Number of uses with a reported outcome")]
    created_at: datetime
    updated_at: datetime


class CreateSkill(Request):
    """Save a proven workflow, so that every assistant of the team can follow it."""

    name: wording.Name
    description: wording.Description
    content: wording.Content
    version: wording.Version
    author: wording.Author
    category: wording.Category
    prerequisites: wording.Prerequisites = []
    expected_outcome: wording.Outcome = ""
    tags: wording.Tags = []
    metadata: wording.Metadata = {}
    project_path: Annotated[
        AbsolutePath | None,
        Field(description="Limit it to this project (absolute path); by default all share it"),
    ] = None
    git_remote: GitRemote = None


class SkillCreated(Written):
    id: str
    name: str
    version: str
    token_count: Annotated[int, Field(description="Tokens as all-MiniLM-L6-v2 counts them")]
    created_at: datetime
    notice: Notice = None


@operation("skill_create", effect="write", timeout=120, rate=Rate(5, burst=10), atomic=False)
def create(caller: Caller, request: CreateSkill) -> SkillCreated:
    saved = services.create(caller, **dict(request))
    return SkillCreated(
        id=str(saved.skill.pk),
        name=saved.skill.name,
        version=saved.version,
        token_count=saved.skill.token_count,
        created_at=saved.skill.created_at,
        notice=saved.notice,
    )


class SearchSkills(Request):
    """Find skills for the work at hand by meaning; search before you start a task."""

    query: Annotated[Filled, Field(max_length=1000, description="The task at hand")]
    top_k: Limit = 5
    category: OfCategory = None
    tags: Tagged = []


class SkillMatch(SkillDetail):
    score: Annotated[float, Field(description="Relevance, 0 to 1; results are sorted by it")]
    distance: Annotated[
        float | None, Field(description="Cosine distance; null until it is embedded")
    ]


class SkillMatches(Result):
    results: list[SkillMatch]
    query: str
    top_k: int
    notice: Notice = None


@operation("skill_search", effect="read", timeout=10, atomic=False)
def search(caller: Caller, request: SearchSkills) -> SkillMatches:
    found = services.find(caller, **dict(request))
    results = [as_match(match) for match in found.matches]
    return SkillMatches(
        results=results, query=request.query, top_k=request.top_k, notice=found.notice
    )


def as_match(match: services.Match) -> SkillMatch:
    detail = SkillDetail.model_validate(match.skill)
    return SkillMatch(**dict(detail), score=match.score, distance=match.distance)


class ListSkills(Request):
    """List the skills, page by page."""

    limit: Limit = 10
    offset: Offset = 0
    category: OfCategory = None
    tags: Tagged = []
    sort_by: Annotated[
        services.SortBy,
        Field(description="Order, newest or highest first; few ratings count less than many"),
    ] = "created_at"


class SkillList(Result):
    skills: list[SkillDetail]
    total: int
    limit: int
    offset: int


@operation("skill_list", effect="read", timeout=30)
def list_skills(caller: Caller, request: ListSkills) -> SkillList:
    page = services.listed(caller, **dict(request))
    return SkillList(
        skills=[SkillDetail.model_validate(skill) for skill in page.skills],
        total=page.total,
        limit=request.limit,
        offset=request.offset,
    )


class UpdateSkill(Request):
    """Improve a skill; omitted fields stay, and each change creates a new version."""

    id: SkillId
    name: Annotated[wording.Name | None, Field(description="New name")] = None
    description: Annotated[wording.Description | None, Field(description="New description")] = None
    content: Annotated[wording.Content | None, Field(description="New instructions")] = None
    version: Annotated[
        wording.Version | None,
        Field(
            description="New version; unless higher than the current one, the patch level is raised"
        ),
    ] = None
    category: Annotated[wording.Category | None, Field(description="New category")] = None
    prerequisites: Annotated[
        wording.Prerequisites | None, Field(description="New prerequisites")
    ] = None
    expected_outcome: Annotated[wording.Outcome | None, Field(description="New outcome")] = None
    tags: Annotated[wording.Tags | None, Field(description="New labels")] = None
    metadata: Annotated[
        wording.Metadata | None, Field(description="New key-value facts; limits as in skill_create")
    ] = None
    note: Note = ""


class SkillSaved(Written):
    id: str
    name: str
    version: str
    updated_at: datetime
    notice: Notice = None


@operation("skill_update", effect="write", timeout=120, atomic=False)
def update(caller: Caller, request: UpdateSkill) -> SkillSaved:
    return as_saved(services.update(caller, request.id, **request.model_dump(exclude={"id"})))


def as_saved(saved: services.Saved) -> SkillSaved:
    return SkillSaved(
        id=str(saved.skill.pk),
        name=saved.skill.name,
        version=saved.version,
        updated_at=saved.skill.updated_at,
        notice=saved.notice,
    )


class GetSkill(Request):
    """Read a complete skill, in its current or an earlier version."""

    id: SkillId
    version: Annotated[
        wording.Version | None, Field(description="The version to read; by default the current one")
    ] = None


class SkillAsOf(SkillDetail):
    current_version: Annotated[str, Field(description="The version in use")]
    files: Annotated[
        list[str],
        Field(description="Addresses of its other files; empty for an earlier version"),
    ]


@operation("skill_get", effect="read", timeout=5)
def get(caller: Caller, request: GetSkill) -> SkillAsOf:
    found = services.as_of(caller, request.id, request.version)
    detail = SkillDetail.model_validate(found.skill)
    return SkillAsOf(**dict(detail), current_version=found.current_version, files=found.files)


class GetSkillHistory(Request):
    """List the versions of a skill, newest first: who changed it, when and why."""

    id: SkillId
    limit: Limit = 20
    offset: Offset = 0


class SkillVersionDetail(Result):
    version: str
    name: str
    changed_by: str
    note: str
    created_at: datetime


class SkillHistory(Result):
    id: str
    versions: list[SkillVersionDetail]
    total: int
    limit: int
    offset: int


@operation("skill_history", effect="read", timeout=5)
def history(caller: Caller, request: GetSkillHistory) -> SkillHistory:
    found = services.history(caller, request.id, limit=request.limit, offset=request.offset)
    return SkillHistory(
        id=request.id,
        versions=[SkillVersionDetail.model_validate(version) for version in found.versions],
        total=found.total,
        limit=request.limit,
        offset=request.offset,
    )


class RestoreSkill(Request):
    """Restore an earlier version of a skill, as its newest version."""

    id: SkillId
    version: Annotated[wording.Version, Field(description="The version to restore")]
    note: Note = ""


@operation("skill_restore", effect="write", timeout=120, atomic=False)
def restore(caller: Caller, request: RestoreSkill) -> SkillSaved:
    saved = services.restore(caller, request.id, version=request.version, note=request.note)
    return as_saved(saved)


class ApplySkill(Request):
    """Use a skill: get the instructions to follow, and count the use."""

    id: SkillId
    success: Annotated[
        bool | None,
        Field(
            description="Whether following it worked; report it in a separate call once you know"
        ),
    ] = None


class SkillApplied(Written):
    id: Annotated[str, Field(coerce_numbers_to_str=True)]
    name: str
    version: str
    content: str
    prerequisites: list[str]
    expected_outcome: str
    files: Annotated[list[str], Field(description="Addresses of its other files")]
    usage_count: int
    success_rate: Annotated[
        float, Field(description="Share of rated uses that worked; 0 if none is rated")
    ]
    rated_count: Annotated[int, Field(description="Number of uses with a reported outcome")]
    notice: Notice = None


@operation("skill_apply", effect="write", timeout=30, atomic=False)
def apply(caller: Caller, request: ApplySkill) -> SkillApplied:
    applied = usage.apply(caller, request.id, request.success)
    detail = SkillDetail.model_validate(applied.skill)
    shown = detail.model_dump(include=set(SkillApplied.model_fields))
    return SkillApplied(**shown, files=applied.files, notice=applied.notice)


class DeleteSkill(Request):
    """Delete a skill permanently, with all its versions."""

    id: SkillId


class SkillDeleted(Result):
    id: str
    message: str


@operation("skill_delete", effect="delete", timeout=30)
def delete(caller: Caller, request: DeleteSkill) -> SkillDeleted:
    services.delete(caller, request.id)
    return SkillDeleted(id=request.id, message=f"skill {request.id} is deleted")

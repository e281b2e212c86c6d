"""Save, search, change and delete checkpoints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from django.db.models import Count, F, Func

from checkpoints.models import Checkpoint
from contextd import guards, limits, operations, projects, search
from contextd.callers import Caller
from contextd.changes import announce
from contextd.completions import completer
from contextd.errors import Invalid, NotFound
from contextd.models import get_record
from contextd.status import has_records, health_check
from repositories import services as repositories

DOMAIN = "checkpoint"
NEWEST = f"{DOMAIN}://recent"

FILES_FOUND_BY = "repository_search"
NO_FILES = f"Indexed files are left out: they need {FILES_FOUND_BY}, which you may not use here."
NO_TAGS = "Files have no tags: omit the tags, or search for checkpoints."

SHOWN_FIELDS = [
    *("summary", "description", "context", "tags", "project", "project_path", "token_count"),
    *("created_by", "created_at", "updated_at"),
]
"""Fields that people read."""

SortBy = Literal["created_at", "updated_at"]
Kind = Literal["checkpoint", "file"]


@dataclass(frozen=True, slots=True)
class Saved:
    checkpoint: Checkpoint
    notice: str | None


@dataclass(frozen=True, slots=True)
class Match:
    checkpoint: Checkpoint
    score: float
    distance: float | None


FoundFile = repositories.FoundFile


@dataclass(frozen=True, slots=True)
class Matches:
    matches: Sequence[Match | FoundFile]
    notice: str | None


@dataclass(frozen=True, slots=True)
class Page:
    checkpoints: list[Checkpoint]
    total: int


def register_for_search() -> None:
    search.register_records(
        DOMAIN, "Checkpoints", Checkpoint, found_by="checkpoint_search", fields=SHOWN_FIELDS
    )


@health_check("checkpoint")
def probe() -> None:
    """Check that the table can be read."""
    has_records(Checkpoint.objects.all(), "checkpoints")


def save(
    caller: Caller,
    *,
    summary: str,
    description: str,
    project_path: str,
    context: Mapping[str, str],
    tags: Sequence[str],
) -> Saved:
    prepared = search.prepare(summary, description)
    with limits.transaction():
        project = projects.resolve(caller, project_path, context)
        checkpoint = Checkpoint.objects.create(
            project=project,
            project_path=project_path,
            summary=summary,
            description=description,
            context=dict(context),
            tags=list(dict.fromkeys(tags)),
            token_count=prepared.token_count,
            created_by=caller.principal,
        )
        search.store(DOMAIN, checkpoint.pk, project.pk, prepared)
        announce("resources")
        announce("resources", NEWEST)
    return Saved(checkpoint, prepared.notice)


def update(
    caller: Caller,
    checkpoint_id: str,
    *,
    summary: str | None = None,
    description: str | None = None,
    context: Mapping[str, str] | None = None,
    tags: Sequence[str] | None = None,
) -> Saved:
    """Change the given fields; changed text is embedded again."""
    given: dict[str, Any] = {
        "summary": summary,
        "description": description,
        "context": context,
        "tags": None if tags is None else list(dict.fromkeys(tags)),
    }
    changes = {name: value for name, value in given.items() if value is not None}
    if not {"summary", "description"} & changes.keys():
        with limits.transaction():
            return Saved(_change(caller, checkpoint_id, changes), notice=None)
    return limits.retried(partial(_change_text, caller, checkpoint_id, changes))


def _change_text(caller: Caller, checkpoint_id: str, changes: Mapping[str, Any]) -> Saved:
    """Change the text. Raises Stale if the other field changed during the embedding."""
    before = get(caller, checkpoint_id)
    text = (
        changes.get("summary", before.summary),
        changes.get("description", before.description),
    )
    prepared = search.prepare(*text)
    with limits.transaction():
        changes = {**changes, "token_count": prepared.token_count}
        checkpoint = _change(caller, checkpoint_id, changes)
        if (checkpoint.summary, checkpoint.description) != text:
            raise limits.Stale
        search.store(DOMAIN, checkpoint.pk, checkpoint.project_id, prepared)
    return Saved(checkpoint, prepared.notice)


def _change(caller: Caller, checkpoint_id: str, changes: Mapping[str, Any]) -> Checkpoint:
    """Update under a row lock, so that concurrent changes to other fields survive."""
    visible = Checkpoint.objects.visible_to(caller).select_for_update()
    checkpoint = get_record(visible, checkpoint_id)
    for name, value in changes.items():
        setattr(checkpoint, name, value)
    checkpoint.save(update_fields=[*changes, "updated_at"])
    announce("resources", address_of(checkpoint))
    announce("resources", NEWEST)
    return checkpoint


def find(
    caller: Caller,
    *,
    query: str,
    limit: int,
    project_path: str | None,
    git_remote: str | None,
    tags: Sequence[str],
    kind: Kind | None = None,
) -> Matches:
    """Return the best matches by words and meaning among what the caller may see.

    Files, which have no tags, are at most half of the results unless a kind is given; a single
    result may be a file. Callers who may not search files get none.
    """
    within = caller.projects
    if project_path or git_remote:
        project = projects.find(caller, project_path, git_remote)
        if project is None:
            return Matches([], unknown_project(project_path, git_remote))
        within = frozenset([project.pk])
    if kind == "file":
        return Matches([], NO_TAGS) if tags else _find_files(caller, query, within, limit)
    checkpoints = _find_checkpoints(query, within, tags, limit)
    if kind == "checkpoint" or tags:
        return checkpoints
    files = _find_files(caller, query, within, max(1, limit // 2))
    return _together(checkpoints, files, limit)


def _find_checkpoints(
    query: str, within: frozenset[int] | None, tags: Sequence[str], limit: int
) -> Matches:
    found = search.find(
        query,
        domain=DOMAIN,
        projects=within,
        shared=False,
        records=Checkpoint.objects.tagged(tags) if tags else None,
        limit=limit,
    )
    matches = [
        Match(checkpoint, hit.score, hit.distance)
        for hit, checkpoint in search.with_records(found.hits, Checkpoint.objects.all())
    ]
    return Matches(matches, found.notice)


def _find_files(caller: Caller, query: str, within: frozenset[int] | None, limit: int) -> Matches:
    if not guards.may_use(operations.get(FILES_FOUND_BY), caller):
        return Matches([], NO_FILES)
    found = repositories.find_files(query, within, limit)
    return Matches(found.files, found.notice)


def _together(one: Matches, other: Matches, limit: int) -> Matches:
    best = sorted([*one.matches, *other.matches], key=lambda match: -match.score)
    notices = dict.fromkeys(notice for notice in (one.notice, other.notice) if notice)
    return Matches(best[:limit], " ".join(notices) or None)


def recent(
    caller: Caller,
    *,
    project_path: str | None,
    limit: int,
    offset: int,
    sort_by: SortBy,
    git_remote: str | None = None,
    tags: Sequence[str] = (),
) -> Page:
    checkpoints = Checkpoint.objects.visible_to(caller).tagged(tags)
    checkpoints = checkpoints.order_by(f"-{sort_by}", "-pk")
    if project_path or git_remote:
        project = projects.find(caller, project_path, git_remote)
        checkpoints = checkpoints.filter(project=project) if project else checkpoints.none()
    return Page(list(checkpoints[offset : offset + limit]), checkpoints.count())


def get(caller: Caller, checkpoint_id: str) -> Checkpoint:
    return get_record(Checkpoint.objects.visible_to(caller), checkpoint_id)


def resume(
    caller: Caller, checkpoint_id: str | None, project_path: str | None, git_remote: str | None
) -> Checkpoint:
    """Return the checkpoint with the id, else the newest of the project."""
    if checkpoint_id is not None:
        return get(caller, checkpoint_id)
    if not (project_path or git_remote):
        raise Invalid("project_path, git_remote or id is required", field="project_path")
    return latest(caller, project_path, git_remote=git_remote)


def latest(
    caller: Caller,
    project_path: str | None,
    *,
    git_remote: str | None = None,
    tags: Sequence[str] = (),
) -> Checkpoint:
    page = recent(
        caller,
        project_path=project_path,
        git_remote=git_remote,
        tags=tags,
        limit=1,
        offset=0,
        sort_by="created_at",
    )
    if not page.checkpoints:
        place = projects.describe_location(project_path, git_remote)
        hint = projects.hint_at_former(caller, project_path, git_remote) or "save one first"
        raise NotFound(f"no checkpoint is saved yet for {place}; {hint}")
    return page.checkpoints[0]


def delete(caller: Caller, checkpoint_id: str) -> None:
    """Delete the checkpoint and its index entries."""
    with limits.transaction():
        # Lock it before its index entries, in the same order as an update.
        visible = Checkpoint.objects.visible_to(caller).select_for_update()
        checkpoint = get_record(visible, checkpoint_id)
        search.forget(DOMAIN, [checkpoint.pk])
        checkpoint.delete()
        announce("resources")
        announce("resources", NEWEST)


def address_of(checkpoint: Checkpoint) -> str:
    return f"{DOMAIN}://{checkpoint.pk}"


def as_text(checkpoint: Checkpoint) -> str:
    """Format for reading: what was done, where and when, then the details."""
    lines = [
        checkpoint.summary,
        f"{checkpoint.project_path}, saved {checkpoint.created_at:%Y-%m-%d %H:%M} UTC",
        *(f"{key}: {value}" for key, value in checkpoint.context.items()),
    ]
    if checkpoint.tags:
        lines.append(f"tags: {', '.join(checkpoint.tags)}")
    return "\n".join([*lines, *(["", checkpoint.description] if checkpoint.description else [])])


def as_overview(page: Page) -> str:
    """Format one line per checkpoint, with the address of the full text."""
    lines = [
        f"{address_of(one)} {one.created_at:%Y-%m-%d %H:%M} {one.project_path}: {one.summary}"
        for one in page.checkpoints
    ]
    hidden = page.total - len(lines)
    return "\n".join([*lines, *([f"and {hidden} older ones"] if hidden else [])])


@completer("checkpoint_id")
def ids_that_start_with(caller: Caller, typed: str) -> list[str]:
    newest = Checkpoint.objects.visible_to(caller).values_list("pk", flat=True)
    return [str(pk) for pk in newest[:1000] if str(pk).startswith(typed)]


@completer("tag")
def tags_that_start_with(caller: Caller, typed: str) -> list[str]:
    tags = Checkpoint.objects.visible_to(caller).annotate(tag=Func(F("tags"), function="unnest"))
    counted = tags.values("tag").annotate(count=Count("pk")).order_by("-count", "tag")
    return [row["tag"] for row in counted if row["tag"].lower().startswith(typed.lower())]


def unknown_project(path: str | None, git_remote: str | None) -> str:
    place = projects.describe_location(path, git_remote)
    return f"No project is known for {place}; it is created when something is saved there."

"""Search, create, change, restore and delete skills."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from django.db import IntegrityError
from django.db.models import Q, QuerySet
from django.utils import timezone

from contextd import limits, projects, search
from contextd.callers import Caller
from contextd.errors import Invalid, NotAllowed
from contextd.models import Project, get_record
from contextd.search import HistoryEntry, Prepared
from contextd.status import has_records, health_check
from skills import documents, keeping, packages, proposals, serving, versions
from skills.models import Skill, SkillVersion, State
from skills.packages import Package
from skills.wording import NOTE_LENGTH, Wording, slug_of

DOMAIN = "skill"
SHOWN_FIELDS = [
    *("name", "description", "content", "state", "version", "category", "tags", "prerequisites"),
    *("expected_outcome", "metadata", "author", "project", "usage_count", "success_rate"),
    *("success_count", "failure_count", "token_count", "created_by", "created_at", "updated_at"),
]
"""Fields that people read."""
UNCHANGED = "Nothing changed, so there is no new version."
MAX_HISTORY_ENTRIES = 50
WAITS = "This context requires review: it takes effect once a curator has published it."

SortBy = Literal["created_at", "updated_at", "usage_count", "success_rate"]
ORDER: dict[SortBy, str] = {
    "created_at": "-created_at",
    "updated_at": "-updated_at",
    "usage_count": "-usage_count",
    "success_rate": "-proven",
}


@dataclass(frozen=True, slots=True)
class Saved:
    """The skill as currently in use, and the version that the call created."""

    skill: Skill
    version: str
    notice: str | None = None


@dataclass(frozen=True, slots=True)
class Match:
    skill: Skill
    score: float
    distance: float | None


@dataclass(frozen=True, slots=True)
class Matches:
    matches: list[Match]
    notice: str | None


@dataclass(frozen=True, slots=True)
class Page:
    skills: list[Skill]
    total: int


@dataclass(frozen=True, slots=True)
class History:
    versions: list[SkillVersion]
    total: int


@dataclass(frozen=True, slots=True)
class AsOf:
    """A skill with the wording of one version; never save it."""

    skill: Skill
    current_version: str
    files: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The planned wording of a skill; the version is raised when it is saved.

    `is_verbatim` keeps the SKILL.md as its author wrote it; `is_bulk`, for many at once,
    leaves the embedding to the worker. `accepts` is the proposal that is accepted by saving.
    """

    wording: Wording
    package: Package
    note: str
    asked: str | None = None
    is_verbatim: bool = False
    is_bulk: bool = False
    accepts: SkillVersion | None = None

    def prepared(self) -> Prepared:
        """Return the index entries; embeds, so do not call within a transaction."""
        prepare = search.cut if self.is_bulk else search.prepare
        return prepare(*self.wording.found_by())


def register_for_search() -> None:
    search.register_records(
        DOMAIN, "Skills", Skill, found_by="skill_search", fields=SHOWN_FIELDS, history=happened
    )


@health_check("skill")
def probe() -> None:
    """Check that the table can be read."""
    has_records(Skill.objects.all(), "skills")


def create(
    caller: Caller, *, project_path: str | None, git_remote: str | None, **fields: Any
) -> Saved:
    """Create a skill that is usable at once, unless the caller's context requires review."""
    given = {**fields, "tags": list(dict.fromkeys(fields["tags"]))}
    wording = Wording.model_construct(**given, slug=slug_of(fields["name"]))
    package = packages.of_document(documents.write(wording))
    plan = Plan(wording=wording, package=package, asked=wording.version, note="")
    remote = {projects.GIT_REMOTE_KEY: git_remote or ""}
    project_of = partial(projects.resolve, caller, project_path or "", remote)
    return create_as_planned(caller, plan, project_of if project_path else lambda: None)


def create_as_planned(
    caller: Caller, plan: Plan, project_of: Callable[[], Project | None]
) -> Saved:
    prepared = plan.prepared()
    state = State.DRAFT if _must_wait(caller) else State.PUBLISHED
    try:
        with limits.transaction():
            project = project_of()
            _refuse_known(plan.wording, project)
            skill = keeping.add(
                caller,
                plan.wording,
                plan.package,
                project=project,
                state=state,
                token_count=prepared.token_count,
            )
            keeping.add_version(
                skill,
                caller,
                plan.wording,
                plan.package,
                note=plan.note,
                is_imported=plan.is_verbatim,
            )
            search.store(DOMAIN, skill.pk, skill.project_id, prepared)
            serving.announce(skill)
    except IntegrityError:
        raise _taken_meanwhile() from None
    return Saved(skill, skill.version, _notice(prepared, waits=state == State.DRAFT))


def _refuse_known(wording: Wording, project: Project | None, besides: int = 0) -> None:
    taken = Q(slug=wording.slug) | Q(name=wording.name)
    same = Skill.objects.filter(taken, project=project).exclude(pk=besides).first()
    if same is None:
        return
    # An unpublished skill cannot be found, so it cannot be updated either.
    is_used = same.state == State.PUBLISHED
    advice = "update that one with skill_update" if is_used else "ask a curator to publish it"
    raise Invalid(
        f"a skill named {same.name!r} exists already (id {same.pk}, {same.state}): "
        f"{advice}, or choose another name",
        field="name",
        error="is taken",
    )


def _taken_meanwhile() -> Invalid:
    return Invalid("another skill has just taken that name", field="name", error="is taken")


def update(caller: Caller, skill_id: str, *, version: str | None, note: str, **given: Any) -> Saved:
    """Change the given fields in a new version, at least one patch level higher."""
    changes = {name: value for name, value in given.items() if value is not None}
    if "tags" in changes:
        changes["tags"] = list(dict.fromkeys(changes["tags"]))

    def plan(skill: Skill) -> Plan:
        wording = Wording.of(skill).changed(changes)
        package = keeping.package_of(skill, skill.version)
        return Plan(wording=wording, package=package, asked=version, note=note)

    return revise(caller, skill_id, plan)


def restore(caller: Caller, skill_id: str, *, version: str, note: str) -> Saved:
    """Restore the wording of an earlier version as a new version, or accept a proposal."""

    def plan(skill: Skill) -> Plan:
        earlier = keeping.version_of(caller, skill, version)
        if earlier.is_proposal:
            return _acceptance(skill, earlier, note)
        package = keeping.package_of(skill, version)
        told = note or f"restored {version}"
        return Plan(wording=Wording.of(earlier), package=package, note=told)

    return revise(caller, skill_id, plan)


def _acceptance(skill: Skill, proposal: SkillVersion, note: str) -> Plan:
    wording, package = proposals.applied(skill, proposal)
    parts = [f"proposed by {proposal.changed_by}", note or proposal.note]
    told, asked = ": ".join(part for part in parts if part)[:NOTE_LENGTH], proposal.version
    return Plan(wording=wording, package=package, asked=asked, note=told, accepts=proposal)


def revise(caller: Caller, skill_id: str, plan_for: Callable[[Skill], Plan]) -> Saved:
    """Create a new version as planned from the current wording."""
    try:
        return limits.retried(partial(_revise, caller, skill_id, plan_for))
    except IntegrityError:
        raise _taken_meanwhile() from None


def _revise(caller: Caller, skill_id: str, plan_for: Callable[[Skill], Plan]) -> Saved:
    """Create the version. Raises Stale if the skill changed after it was planned."""
    before = get(caller, skill_id)
    plan = plan_for(before)
    if _is_idle(before, plan):
        if plan.accepts:
            proposals.refuse(caller, skill_id, plan.accepts.version)
        return Saved(before, before.version, UNCHANGED)
    is_found_by_the_same = plan.wording.found_by() == Wording.of(before).found_by()
    prepared = None if is_found_by_the_same else plan.prepared()
    with limits.transaction():
        skill = get_record(Skill.objects.visible_to(caller).select_for_update(), skill_id)
        if skill.version != before.version:
            raise limits.Stale
        if (plan.wording.name, plan.wording.slug) != (skill.name, skill.slug):
            _refuse_known(plan.wording, skill.project, besides=skill.pk)
        return keep(caller, skill, plan, prepared)


def _is_idle(skill: Skill, plan: Plan) -> bool:
    if plan.is_verbatim:
        return plan.package.identities == keeping.package_of(skill, skill.version).identities
    says_the_same = plan.wording.model_copy(update={"version": skill.version}) == Wording.of(skill)
    now = keeping.package_of(skill, skill.version)
    return (
        says_the_same
        and not versions.raises(plan.asked, skill.version)
        and _supporting(plan.package.identities) == _supporting(now.identities)
        and _is_the_same_beside_wording(plan, now)
    )


def _is_the_same_beside_wording(plan: Plan, now: Package) -> bool:
    """Return whether the SKILL.md differs in nothing but the wording."""
    both = {plan.package.raw_document, now.raw_document}
    return len(both) == 1 or len({documents.rewritten(raw, plan.wording) for raw in both}) == 1


def _supporting(identities: frozenset[tuple[str, str, bool]]) -> set[tuple[str, str, bool]]:
    return {identity for identity in identities if identity[0] != documents.NAME}


def keep(caller: Caller, skill: Skill, plan: Plan, prepared: Prepared | None) -> Saved:
    """Create the version of a locked skill; `prepared` is None if its index entries stay."""
    if plan.accepts and not keeping.drop(plan.accepts):
        raise limits.Stale
    taken = set(skill.versions.values_list("version", flat=True))
    following = versions.following(plan.asked, skill.version, taken)
    wording = plan.wording.model_copy(update={"version": following})
    package, before = plan.package, skill.version
    if not plan.is_verbatim:
        package = package.with_document(documents.rewritten(package.raw_document, wording))
    waits = _must_wait(caller)
    keeping.add_version(
        skill,
        caller,
        wording,
        package,
        note=plan.note,
        is_proposal=waits,
        is_imported=plan.is_verbatim,
    )
    if not waits:
        former = serving.digests_of(skill)
        if prepared:
            skill.token_count = prepared.token_count
            search.store(DOMAIN, skill.pk, skill.project_id, prepared)
        keeping.say(skill, wording, package)
        serving.announce(skill, former)
    notice = _notice(prepared, waits=waits) or _raised(plan.asked, before, wording.version)
    return Saved(skill, wording.version, notice)


def _must_wait(caller: Caller) -> bool:
    """Return whether a review is required; never of curators, who review."""
    return caller.entry.needs_review and not caller.is_curator


def _notice(prepared: Prepared | None, *, waits: bool) -> str | None:
    if waits:
        return WAITS
    return prepared.notice if prepared else None


def _raised(asked: str | None, before: str, kept: str) -> str | None:
    if asked in (None, before, kept):
        return None
    return f"{asked} does not raise the version or is taken, so this is {kept}."


def move_to(caller: Caller, state: State, skills: QuerySet[Skill]) -> list[Skill]:
    """Publish, retire or take back those the caller sees; return the ones whose state changed."""
    seen = skills.filter(pk__in=Skill.objects.visible_to(caller))
    with limits.transaction():
        moved = list(seen.exclude(state=state).select_for_update(of=("self",)))
        now = timezone.now()
        Skill.objects.filter(pk__in=[one.pk for one in moved]).update(state=state, updated_at=now)
        for skill in moved:
            serving.announce(skill)
    return moved


def find(
    caller: Caller, *, query: str, top_k: int, category: str | None, tags: Sequence[str]
) -> Matches:
    """Return the best matches by words and meaning among the skills the caller may use."""
    usable = Skill.objects.visible_to(caller).in_category(category).tagged(tags)
    found = search.find(query, domain=DOMAIN, projects=caller.projects, records=usable, limit=top_k)
    hits = search.with_records(found.hits, usable)
    return Matches([Match(skill, hit.score, hit.distance) for hit, skill in hits], found.notice)


def listed(
    caller: Caller,
    *,
    limit: int,
    offset: int,
    category: str | None,
    tags: Sequence[str],
    sort_by: SortBy,
) -> Page:
    skills = Skill.objects.visible_to(caller).in_category(category).tagged(tags)
    ordered = skills.order_by(ORDER[sort_by], "-pk")
    return Page(list(ordered[offset : offset + limit]), skills.count())


def get(caller: Caller, skill_id: str) -> Skill:
    return get_record(Skill.objects.visible_to(caller), skill_id)


def as_of(caller: Caller, skill_id: str, version: str | None) -> AsOf:
    """Return the skill in a version, by default the current one, whose files have addresses."""
    skill = get(caller, skill_id)
    current = skill.version
    if version is None or version == current:
        return AsOf(skill, current, serving.files_of(skill, current))
    earlier = keeping.version_of(caller, skill, version)
    for field, value in Wording.of(earlier):
        setattr(skill, field, value)
    skill.updated_at = earlier.created_at
    return AsOf(skill, current, [])


def history(caller: Caller, skill_id: str, *, limit: int, offset: int) -> History:
    """List all versions, newest first."""
    skill = get(caller, skill_id)
    kept = skill.versions.visible_to(caller).defer("content", "front_matter")
    return History(list(kept[offset : offset + limit]), kept.count())


def happened(caller: Caller, skill: Skill) -> list[HistoryEntry]:
    """Return the versions as events for people."""
    kept = skill.versions.visible_to(caller).only("version", "note", "changed_by", "created_at")
    return [
        HistoryEntry(one.created_at, one.changed_by, f"Version {one.version}", one.note)
        for one in kept[:MAX_HISTORY_ENTRIES]
    ]


def delete(caller: Caller, skill_id: str) -> None:
    """Delete the skill with its versions, files and index entries."""
    if _must_wait(caller):
        raise NotAllowed(
            "this context requires review, so only a curator retires or deletes skills, in the "
            "admin; propose a change with skill_update instead"
        )
    with limits.transaction():
        # Lock the skill first, as updates and uses do, to avoid deadlocks.
        skill = get_record(Skill.objects.visible_to(caller).select_for_update(), skill_id)
        search.forget(DOMAIN, [skill.pk])
        serving.announce(skill)
        skill.delete()

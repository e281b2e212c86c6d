"""Apply changes that waited for a review to what the skill says by now, or refuse them."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from contextd import limits
from contextd.callers import Caller
from contextd.errors import Invalid
from contextd.models import get_record
from skills import documents, keeping
from skills.models import Skill, SkillVersion
from skills.packages import Package, PackageFile
from skills.wording import Wording

T = TypeVar("T")

FRONT_MATTER = "the front matter"


def applied(skill: Skill, proposal: SkillVersion) -> tuple[Wording, Package]:
    """Return the current wording and files with the changes of a proposal.

    Raises Invalid if the skill has changed in the same places since the proposal.
    """
    base = base_of(proposal)
    stages = [keeping.package_of(skill, one.version) for one in (base, skill, proposal)]
    if base.version == skill.version:
        return Wording.of(proposal), stages[2]
    clashes: list[str] = []
    wording = Wording.of(skill).model_copy(
        update=_merged([_fields(row) for row in (base, skill, proposal)], clashes)
    )
    package = _package(wording, stages, clashes)
    if clashes:
        raise _clash(proposal, clashes)
    return wording, package


def base_of(proposal: SkillVersion) -> SkillVersion:
    """Return the version that was current when the proposal was made."""
    accepted = SkillVersion.objects.filter(skill=proposal.skill_id, is_proposal=False)
    return accepted.filter(pk__lt=proposal.pk).latest("pk")


def _fields(row: Skill | SkillVersion) -> dict[str, Any]:
    return dict(Wording.of(row).model_dump(exclude={"version"}))


def _merged(stages: Sequence[Mapping[str, T]], clashes: list[str]) -> dict[str, T | None]:
    """Return the current values with those that the proposal changed; note what both changed.

    The stages are the base, the current and the proposed values; None is an absent one.
    """
    base, current, proposed = stages
    merged: dict[str, T | None] = dict(current)
    for key in {**base, **proposed}:
        before, now, wanted = base.get(key), current.get(key), proposed.get(key)
        if wanted in (before, now):
            continue
        if now != before:
            clashes.append(key)
        merged[key] = wanted
    return merged


def _package(wording: Wording, stages: Sequence[Package], clashes: list[str]) -> Package:
    """Merge the other files, and choose the SKILL.md that the wording is written into."""
    files = _merged([_other_files(package) for package in stages], clashes)
    fronts = [{FRONT_MATTER: _front_matter_besides(wording, package)} for package in stages]
    _, current, proposed = stages
    source = current if _merged(fronts, clashes) == fronts[1] else proposed
    kept = [file for file in files.values() if file is not None]
    return Package((PackageFile(documents.NAME, source.raw_document), *kept))


def _other_files(package: Package) -> dict[str, PackageFile]:
    return {file.path: file for file in package.files if file.path != documents.NAME}


def _front_matter_besides(wording: Wording, package: Package) -> dict[str, Any]:
    """Return the front matter with the same wording for all, so that only the rest differs."""
    return documents.read(documents.rewritten(package.raw_document, wording)).front_matter


def _clash(proposal: SkillVersion, clashes: list[str]) -> Invalid:
    named = [one for one in clashes if one != "slug"]
    *first, last = named
    places = f"{', '.join(first)} and {last} have" if first else f"{last} has"
    return Invalid(
        f"{places} changed since {proposal.version} was proposed; edit the skill to combine both, "
        "then refuse the proposal",
        field="version",
    )


def refuse(caller: Caller, skill_id: str, version: str) -> None:
    """Delete a proposal, whose version is free again."""
    with limits.transaction():
        skill = get_record(Skill.objects.visible_to(caller).select_for_update(), skill_id)
        proposal = keeping.version_of(caller, skill, version)
        if not proposal.is_proposal:
            raise Invalid(
                f"version {version} of skill {skill.pk} is not a proposal", field="version"
            )
        keeping.drop(proposal)

"""Write the rows of a skill, its versions and files. Call only within a transaction."""

from django.utils import timezone

from contextd.callers import Caller
from contextd.errors import NotFound
from contextd.models import Project
from skills.models import Skill, SkillFile, SkillVersion, State
from skills.packages import Package, PackageFile
from skills.wording import Wording

VersionFile = SkillVersion.files.through


def add(
    caller: Caller,
    wording: Wording,
    package: Package,
    *,
    project: Project | None,
    state: State,
    token_count: int,
) -> Skill:
    return Skill.objects.create(
        **dict(wording),
        front_matter=package.document.front_matter,
        project=project,
        state=state,
        token_count=token_count,
        created_by=caller.principal,
    )


def add_version(
    skill: Skill,
    caller: Caller,
    wording: Wording,
    package: Package,
    *,
    note: str,
    is_proposal: bool = False,
    is_imported: bool = False,
) -> None:
    version = SkillVersion.objects.create(
        **dict(wording),
        front_matter=package.document.front_matter,
        skill=skill,
        changed_by=caller.principal,
        note=note,
        is_proposal=is_proposal,
        is_imported=is_imported,
    )
    VersionFile.objects.bulk_create(
        VersionFile(skillversion=version, skillfile_id=pk) for pk in _kept(skill, package)
    )


def drop(proposal: SkillVersion) -> bool:
    """Delete a proposal and the files of no other version; return False if it was gone already."""
    deleted, _ = proposal.delete()
    proposal.skill.files.filter(versions=None).delete()
    return deleted > 0


def version_of(caller: Caller, skill: Skill, version: str) -> SkillVersion:
    found = skill.versions.visible_to(caller).filter(version=version).first()
    if found is None:
        raise NotFound(
            f"skill {skill.pk} has no version {version!r}; skill_history lists those it has",
            id=str(skill.pk),
        )
    return found


def say(skill: Skill, wording: Wording, package: Package) -> None:
    """Copy a version's wording to the skill, which is saved together with its token count."""
    for field, value in wording:
        setattr(skill, field, value)
    skill.front_matter = package.document.front_matter
    skill.updated_at = timezone.now()
    skill.save(update_fields=[*Wording.model_fields, "front_matter", "token_count", "updated_at"])


def last_imported(skill: Skill) -> str | None:
    """Return the newest version that a folder had when it was imported."""
    imported = skill.versions.filter(is_imported=True).values_list("version", flat=True)
    return imported.order_by("-pk").first()


def mark_imported(skill: Skill) -> None:
    """Note that a folder has the current version."""
    skill.versions.filter(version=skill.version).update(is_imported=True)


def package_of(skill: Skill, version: str) -> Package:
    """Return the files of an existing version."""
    files = skill.files.filter(versions__skill=skill, versions__version=version)
    return Package(
        tuple(PackageFile(file.path, bytes(file.content), file.is_executable) for file in files)
    )


def _kept(skill: Skill, package: Package) -> list[int]:
    """Return the rows of these files, reusing those the skill has already."""
    known = {
        (path, digest, is_executable): pk
        for pk, path, digest, is_executable in skill.files.values_list(
            "pk", "path", "digest", "is_executable"
        )
    }
    new = SkillFile.objects.bulk_create(
        _row(skill, file) for file in package.files if file.identity not in known
    )
    used = package.identities
    return [*(file.pk for file in new), *(pk for key, pk in known.items() if key in used)]


def _row(skill: Skill, file: PackageFile) -> SkillFile:
    return SkillFile(
        skill=skill,
        path=file.path,
        content=file.content,
        digest=file.digest,
        size=len(file.content),
        is_executable=file.is_executable,
    )

"""Import and export skills in the Agent Skills format."""

import dataclasses
import io
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal
from urllib.parse import quote, unquote

from django.db.models import Q, QuerySet

from contextd import redaction
from contextd.callers import Caller
from contextd.errors import ContextdError, Invalid, NotAllowed
from contextd.models import Project
from skills import keeping, packages, services, serving
from skills.models import Skill
from skills.packages import Package, PackageFile
from skills.services import Plan
from skills.sources import Found

STARTER = Path(__file__).parent / "starter"
EMBEDDED_AT_ONCE = 50
"""Skills embedded at once; further ones are found by words until the worker embeds them."""

MAX_FOLDER_CHARACTERS = 200
MAX_REPORTED = 20
CREDENTIALS = (
    "files are kept byte for byte, so remove them; or, if every reader of the skill may read "
    "them, allow them (--allow-credentials, or the box in the admin)"
)
BESIDE = "only the SKILL.md is read; to have the files beside it too, give their folder"
EDITED = (
    "it has not changed since it became {version}, and was edited here since; to import it "
    "nevertheless, replace the edits (--replace, or the box in the admin)"
)

Outcome = Literal["new", "changed", "unchanged", "refused"]


@dataclass(frozen=True, slots=True)
class Wishes:
    """How to import; `replace` also imports what was only edited here since the last import."""

    project: Project | None = None
    note: str = ""
    with_credentials: bool = False
    replace: bool = False


@dataclass(frozen=True, slots=True)
class Imported:
    """The outcome for one folder; `remarks` say why it was refused, or what to check."""

    place: str
    outcome: Outcome
    skill: Skill | None = None
    version: str = ""
    remarks: list[str] = field(default_factory=list)


def take_in(caller: Caller, found: Iterable[Found], wishes: Wishes) -> Iterator[Imported]:
    """Save each as a skill, or as a new version of the existing one of its name.

    Without a project, each goes to the one that its folder names. Skills with apparent
    credentials are refused, unless these are allowed.
    """
    skills, taken = list(found), set[tuple[int | None, str]]()
    is_bulk = len(skills) > EMBEDDED_AT_ONCE
    note = wishes.note or "imported"
    for one in skills:
        if one.package is None or one.wording is None:
            yield Imported(one.place, "refused", remarks=one.problems)
            continue
        plan = Plan(
            wording=one.wording,
            package=one.package,
            asked=one.wording.version,
            note=note,
            is_verbatim=True,
            is_bulk=is_bulk,
        )
        try:
            owner = _owner_of(caller, one, wishes)
            _refuse_twice(taken, owner, plan.wording.slug)
            known = Skill.objects.filter(slug=plan.wording.slug, project=owner).first()
            unchanged = _unchanged(one, plan, known, wishes) if known else None
            imported = unchanged or _saved(caller, one, plan, known, owner, wishes)
            yield dataclasses.replace(imported, remarks=[*imported.remarks, *remarks_on(one)])
        except ContextdError as error:
            yield Imported(one.place, "refused", remarks=[error.message])


def remarks_on(found: Found) -> list[str]:
    """Return what to know about a valid skill that is imported."""
    left_out = [f"{path} is left out, since programs generate it" for path in found.left_out]
    return [*left_out, BESIDE] if found.has_files_beside else left_out


def _refuse_twice(taken: set[tuple[int | None, str]], owner: Project | None, slug: str) -> None:
    name = (owner.pk if owner else None, slug)
    if name in taken:
        raise Invalid(f"{slug} occurs twice", field="name")
    taken.add(name)


def _owner_of(caller: Caller, found: Found, wishes: Wishes) -> Project | None:
    if wishes.project is None:
        return _project_of(caller, found)
    if not caller.sees(wishes.project.pk):
        raise NotAllowed(
            f"the context {caller.context!r} does not hold the project {wishes.project}; choose "
            "another one, or select another context",
            field="project",
        )
    return wishes.project


def _project_of(caller: Caller, found: Found) -> Project | None:
    """Return the project of the parent folder, so that its skills are not shared with all."""
    if not found.owner.startswith(serving.OWNER):
        return None
    name = unquote(found.owner.removeprefix(serving.OWNER))
    known = Project.objects.visible_to(caller).filter(Q(git_remote=name) | Q(paths__path=name))
    if (project := known.first()) is None:
        raise Invalid(
            f"it belongs to the project {name}, which is unknown here; choose the one to have it "
            "(--project FOLDER, or in the admin)",
            field="project",
        )
    return project


def _unchanged(one: Found, plan: Plan, known: Skill, wishes: Wishes) -> Imported | None:
    """Return the outcome for files that the skill has, or had when they were last imported."""
    if _is_that_of(known, known.version, one, plan):
        keeping.mark_imported(known)
        return Imported(one.place, "unchanged", known, known.version)
    before = keeping.last_imported(known)
    if before is None or wishes.replace or not _is_that_of(known, before, one, plan):
        return None
    remark = EDITED.format(version=before)
    return Imported(one.place, "unchanged", known, known.version, [remark])


def _saved(
    caller: Caller,
    one: Found,
    plan: Plan,
    known: Skill | None,
    owner: Project | None,
    wishes: Wishes,
) -> Imported:
    credentials = list(islice(_credentials_in(plan.package), MAX_REPORTED))
    if credentials and not wishes.with_credentials:
        return Imported(one.place, "refused", remarks=[*credentials, CREDENTIALS])
    if known is None:
        saved = services.create_as_planned(caller, plan, lambda: owner)
        return Imported(one.place, "new", saved.skill, saved.version, credentials)
    saved = services.revise(caller, str(known.pk), lambda skill: _completed(skill, one, plan))
    has_others = len(keeping.package_of(known, saved.version).files) > 1
    stay = ["its other files stay as they are"] if one.is_alone and has_others else []
    return Imported(one.place, "changed", saved.skill, saved.version, [*credentials, *stay])


def _is_that_of(known: Skill, version: str, one: Found, plan: Plan) -> bool:
    """Return whether the files are those of a version; a SKILL.md alone is compared alone."""
    kept = keeping.package_of(known, version)
    if one.is_alone:
        return kept.raw_document == plan.package.raw_document
    return kept.identities == plan.package.identities


def _completed(known: Skill, one: Found, plan: Plan) -> Plan:
    """Return the plan; that of a SKILL.md alone keeps the other files of the skill."""
    if not one.is_alone:
        return plan
    kept = keeping.package_of(known, known.version)
    package = packages.with_files_of(kept, plan.package.raw_document)
    return dataclasses.replace(plan, package=package)


def _credentials_in(package: Package) -> Iterator[str]:
    for file in package.files:
        try:
            text = file.content.decode()
        except UnicodeDecodeError:
            continue
        for one in redaction.findings_of(text):
            yield f"{file.path}, line {one.line}, looks like a credential ({one.kind})"


def as_archive(skills: QuerySet[Skill]) -> bytes:
    """Return a zip with a folder per skill."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder, skill in _by_folder(skills):
            for file in keeping.package_of(skill, skill.version).files:
                member = zipfile.ZipInfo(f"{folder}/{file.path}")
                member.external_attr = (stat.S_IFREG | _mode(file)) << 16
                member.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(member, file.content)
    return written.getvalue()


def into_folder(skills: QuerySet[Skill], target: Path, *, replace: bool = False) -> list[str]:
    """Write a folder per skill; return the names.

    Raises Invalid rather than overwrite a folder; with `replace`, rather than lose other files.
    """
    wanted = dict(_by_folder(skills))
    existing = [name for name in wanted if (target / name).exists()]
    if existing and not replace:
        raise Invalid(
            f"{target} already has {', '.join(existing[:5])}; give another folder, or --replace",
            field="path",
        )
    for name in existing:
        _refuse_other_files(target / name, wanted[name])
    for name, skill in wanted.items():
        _write(keeping.package_of(skill, skill.version), target / name)
    return list(wanted)


def _refuse_other_files(folder: Path, skill: Skill) -> None:
    """Raises Invalid for a folder with files that no version of the skill has."""
    known = set(skill.files.values_list("path", flat=True))
    others = (path for path in _files_below(folder) if path not in known)
    if names := ", ".join(islice(others, 5)):
        raise Invalid(
            f"{folder} has files that would be lost, since no version of {skill.slug} has them: "
            f"{names}; move them away, or give another folder",
            field="path",
        )


def _files_below(folder: Path) -> Iterator[str]:
    if folder.is_symlink() or not folder.is_dir():
        yield folder.name
    for path in folder.rglob("*"):
        if path.is_symlink() or not path.is_dir():
            yield path.relative_to(folder).as_posix()


def _by_folder(skills: QuerySet[Skill]) -> Iterator[tuple[str, Skill]]:
    for skill in skills.order_by("slug", "project_id").prefetch_related("project__paths"):
        folder = f"{_folder_of(skill.project)}/" if skill.project else ""
        yield f"{folder}{skill.slug}", skill


def _folder_of(project: Project) -> str:
    """Name the folder by git remote or path, since an id is meaningless elsewhere."""
    names = [project.git_remote or "", *(one.path for one in project.paths.all())]
    written = [quote(name, safe="") for name in names if name]
    short = (name for name in written if len(name) <= MAX_FOLDER_CHARACTERS)
    return f"{serving.OWNER}{next(short, project.pk)}"


def _write(package: Package, folder: Path) -> None:
    """Write the folder; it is never half written, and no former one is lost if that fails."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".skill-") as made:
        fresh = Path(made) / folder.name
        for file in package.files:
            path = fresh / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)
            path.chmod(_mode(file))
        if folder.exists():
            _replace(folder, fresh)
        else:
            fresh.rename(folder)


def _replace(folder: Path, fresh: Path) -> None:
    """Replace the folder; if that fails, put it back, or leave it beside what took its place."""
    aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".former-"))
    former = aside / folder.name
    try:
        folder.rename(former)
        fresh.rename(folder)
    except BaseException:
        with suppress(OSError):
            former.rename(folder)
        with suppress(OSError):
            aside.rmdir()
        raise
    shutil.rmtree(aside)


def _mode(file: PackageFile) -> int:
    return 0o755 if file.is_executable else 0o644

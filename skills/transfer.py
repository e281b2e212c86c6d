"""Import and export skills in the Agent Skills format."""

import dataclasses
import io
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal
from urllib.parse import quote, unquote

from django.db.models import Q, QuerySet

from contextd import redaction
from contextd.callers import Caller
from contextd.errors import ContextdError, Invalid
from contextd.models import Project
from skills import keeping, services, serving
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

Outcome = Literal["new", "changed", "unchanged", "refused"]


@dataclass(frozen=True, slots=True)
class Imported:
    """The outcome for one folder; `remarks` say why it was refused, or what to check."""

    place: str
    outcome: Outcome
    skill: Skill | None = None
    version: str = ""
    remarks: list[str] = field(default_factory=list)


def take_in(
    caller: Caller,
    found: Iterable[Found],
    project: Project | None,
    note: str = "",
    *,
    with_credentials: bool = False,
) -> Iterator[Imported]:
    """Save each as a skill, or as a new version of the existing one of its name.

    Without a project, each goes to the one that its folder names. Skills with apparent
    credentials are refused, unless these are allowed.
    """
    skills, taken = list(found), set[tuple[int | None, str]]()
    is_bulk = len(skills) > EMBEDDED_AT_ONCE
    for one in skills:
        if one.package is None or one.wording is None:
            yield Imported(one.place, "refused", remarks=one.problems)
            continue
        plan = Plan(
            one.wording, one.package, one.wording.version, note or "imported", True, is_bulk
        )
        try:
            owner = project or _project_of(caller, one)
            _refuse_twice(taken, owner, one.wording.slug)
            imported = _take_in(caller, one.place, plan, owner, with_credentials)
            yield dataclasses.replace(imported, remarks=[*imported.remarks, *remarks_on(one)])
        except ContextdError as error:
            yield Imported(one.place, "refused", remarks=[error.message])


def remarks_on(found: Found) -> list[str]:
    """Return what to know about a valid skill that is imported."""
    return [f"{path} is left out, since programs generate it" for path in found.left_out]


def _refuse_twice(taken: set[tuple[int | None, str]], owner: Project | None, slug: str) -> None:
    name = (owner.pk if owner else None, slug)
    if name in taken:
        raise Invalid(f"{slug} occurs twice", field="name")
    taken.add(name)


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


def _take_in(
    caller: Caller, place: str, plan: Plan, project: Project | None, with_credentials: bool
) -> Imported:
    known = Skill.objects.filter(slug=plan.wording.slug, project=project).first()
    if known and plan.package.identities == keeping.package_of(known, known.version).identities:
        return Imported(place, "unchanged", known, known.version)
    credentials = list(islice(_credentials_in(plan.package), MAX_REPORTED))
    if credentials and not with_credentials:
        return Imported(place, "refused", remarks=[*credentials, CREDENTIALS])
    if known is None:
        saved = services.create_as_planned(caller, plan, lambda: project)
        return Imported(place, "new", saved.skill, saved.version, credentials)
    saved = services.revise(caller, str(known.pk), lambda _: plan)
    return Imported(place, "changed", saved.skill, saved.version, credentials)


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
    """Write the folder atomically."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".skill-") as made:
        fresh = Path(made) / folder.name
        for file in package.files:
            path = fresh / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)
            path.chmod(_mode(file))
        if folder.exists():
            shutil.move(folder, Path(made) / "former")
        fresh.rename(folder)


def _mode(file: PackageFile) -> int:
    return 0o755 if file.is_executable else 0o644

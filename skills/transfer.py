"""Skills from and to the files of the Agent Skills format."""

import io
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from django.db.models import QuerySet

from contextd import redaction
from contextd.callers import Caller
from contextd.errors import ContextdError, Invalid
from contextd.models import Project
from skills import keeping, services, serving
from skills.models import Skill
from skills.packages import Package, PackageFile
from skills.services import Plan
from skills.sources import Found
from skills.wording import Wording

STARTER = Path(__file__).parent / "starter"
EMBEDDED_AT_ONCE = 50
"""More than that are found by their words at once, and by meaning when the worker comes to them."""

Outcome = Literal["new", "changed", "unchanged", "refused"]


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one folder; `remarks` are why it was refused, or what to look at."""

    place: str
    outcome: Outcome
    skill: Skill | None = None
    version: str = ""
    remarks: list[str] = field(default_factory=list)


def take_in(
    caller: Caller, found: Iterable[Found], project: Project | None, note: str = ""
) -> Iterator[Imported]:
    """Keep each as a skill, or as a new version of the one of that name that there is."""
    skills, taken = list(found), set[str]()
    is_bulk = len(skills) > EMBEDDED_AT_ONCE
    for one in skills:
        slug = one.wording.slug if one.wording else ""
        if slug in taken:
            yield Imported(one.place, "refused", remarks=[f"{slug} is in it twice"])
            continue
        taken |= {slug} - {""}
        try:
            yield _take_in(caller, one, project, note, is_bulk)
        except ContextdError as error:
            yield Imported(one.place, "refused", remarks=[error.message])


def _take_in(
    caller: Caller, found: Found, project: Project | None, note: str, is_bulk: bool
) -> Imported:
    if found.package is None or found.wording is None:
        return Imported(found.place, "refused", remarks=found.problems)
    wording, package = found.wording, found.package
    known = Skill.objects.filter(slug=wording.slug, project=project).first()
    plan = Plan(wording, package, wording.version, note or "imported", True, is_bulk)
    if known is None:
        saved = services.create_as_planned(caller, plan, lambda: project)
        return Imported(found.place, "new", saved.skill, saved.version, _remarks(wording))
    if package.identities == keeping.package_of(known, known.version).identities:
        return Imported(found.place, "unchanged", known, known.version)
    saved = services.revise(caller, str(known.pk), lambda _: plan)
    return Imported(found.place, "changed", saved.skill, saved.version, _remarks(wording))


def _remarks(wording: Wording) -> list[str]:
    if not redaction.redact(wording.content).findings:
        return []
    return ["it holds what looks like a credential; files are kept byte for byte, so it is there"]


def as_archive(skills: QuerySet[Skill]) -> bytes:
    """A zip with a folder for each."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder, package in _packages(skills):
            for file in package.files:
                member = zipfile.ZipInfo(f"{folder}/{file.path}")
                member.external_attr = (stat.S_IFREG | _mode(file)) << 16
                member.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(member, file.content)
    return written.getvalue()


def into_folder(skills: QuerySet[Skill], target: Path, *, replace: bool = False) -> list[str]:
    """A folder for each, whose names are returned. Raises Invalid rather than write over one."""
    wanted = list(_packages(skills))
    taken = [name for name, _ in wanted if (target / name).exists()]
    if taken and not replace:
        raise Invalid(
            f"{target} holds {', '.join(taken[:5])} already; give another folder, or --replace",
            field="path",
        )
    for name, package in wanted:
        _write(package, target / name)
    return [name for name, _ in wanted]


def _packages(skills: QuerySet[Skill]) -> Iterator[tuple[str, Package]]:
    for skill in skills.order_by("slug", "project_id"):
        name = serving.folder_of(skill).removeprefix(serving.SCHEME)
        yield name, keeping.package_of(skill, skill.version)


def _write(package: Package, folder: Path) -> None:
    """Whole or not at all."""
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

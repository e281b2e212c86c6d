"""Serve skills by address, as folders of resources, and notify clients of changes."""

import mimetypes
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from django.db.models import F

from contextd.callers import Caller
from contextd.changes import announce as announce_change
from contextd.completions import completer
from contextd.errors import NotFound
from contextd.resources import File, Listed
from contextd.skill_folders import FileOfSkill, SkillFolder
from contextd.validation import parse_digits
from skills import documents
from skills.models import Skill, SkillFile

SCHEME = "skill://"
OWNER = "project."
MARKDOWN, DIRECTORY, BYTES = "text/markdown", "inode/directory", "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Place:
    """A parsed address: a skill, and a path in its folder, empty for the folder itself."""

    project_id: int | None
    slug: str
    path: str


def folder_of(skill: Skill) -> str:
    """Return `skill://NAME`, or `skill://project.ID/NAME` in a project; names have no dot."""
    owner = f"{OWNER}{skill.project_id}/" if skill.project_id else ""
    return f"{SCHEME}{owner}{skill.slug}"


def address_of(skill: Skill, path: str = documents.NAME) -> str:
    return f"{folder_of(skill)}/{quote(path)}"


def files_of(skill: Skill, version: str) -> list[str]:
    """Return the addresses of the version's files other than its SKILL.md."""
    files = skill.files.filter(versions__skill=skill, versions__version=version)
    paths = files.exclude(path=documents.NAME).values_list("path", flat=True)
    return [address_of(skill, path) for path in paths]


def digests_of(skill: Skill) -> dict[str, str]:
    """Return the digest of each file of the current version, by its address."""
    files = skill.files.filter(versions__skill=skill, versions__version=skill.version)
    return {address_of(skill, path): digest for path, digest in files.values_list("path", "digest")}


def announce(skill: Skill, former: Mapping[str, str] | None = None) -> None:
    """Notify clients that files differ from their `former` digests; by default that all changed."""
    announce_change("prompts")
    announce_change("resources")
    changed = digests_of(skill).items() ^ (former or {}).items()
    for address in {address for address, _ in changed}:
        announce_change("resources", address)


def file_at(caller: Caller, path: str) -> File:
    """Return a file of a published skill by its address without the scheme."""
    place = _place(path)
    skill = _skill_at(caller, place)
    file = skill.files.filter(
        versions__skill=skill, versions__version=skill.version, path=place.path
    ).first()
    if file is None:
        raise NotFound(f"the skill {skill.slug} has no file {place.path!r}")
    return File(bytes(file.content), mime_type_of(file.path))


def folder_at(caller: Caller, address: str) -> SkillFolder:
    """Return the skill whose SKILL.md is at the address."""
    place = _place_of(address)
    if place.path != documents.NAME:
        raise NotFound(f"no skill has its {documents.NAME} at {address!r}")
    return _as_folders([_skill_at(caller, place)])[0]


def folders(caller: Caller, start: int, count: int) -> tuple[list[SkillFolder], int]:
    skills = Skill.objects.visible_to(caller).order_by("slug", "project_id")
    page = skills.only("slug", "project_id", "front_matter")[start : start + count]
    return _as_folders(page), skills.count()


def children(caller: Caller, address: str) -> list[Listed]:
    """List the direct children of a folder of a skill."""
    place = _place_of(address)
    skill = _skill_at(caller, place)
    prefix = f"{place.path}/" if place.path else ""
    files = SkillFile.objects.filter(
        skill=skill, versions__skill=skill, versions__version=skill.version
    ).filter(path__startswith=prefix)
    below = [(path.removeprefix(prefix), size) for path, size in files.values_list("path", "size")]
    if not below:
        raise NotFound(f"{address!r} is not a folder")
    folders = sorted({path.partition("/")[0] for path, _ in below if "/" in path})
    return [
        *(_child(skill, f"{prefix}{path}", size) for path, size in below if "/" not in path),
        *(_subfolder(skill, f"{prefix}{name}") for name in folders),
    ]


def most_used(caller: Caller, *, offset: int, limit: int) -> list[Listed]:
    """List the SKILL.md of each skill, most used first."""
    skills = Skill.objects.visible_to(caller).order_by("-usage_count", "-pk")
    shown = skills.only("slug", "project_id", "name", "description")
    return [
        Listed(
            uri=address_of(skill),
            name=skill.slug,
            title=skill.name,
            description=documents.shortened(skill.description),
            mime_type=MARKDOWN,
        )
        for skill in shown[offset : offset + limit]
    ]


@completer("path")
def paths_that_start_with(caller: Caller, typed: str) -> list[str]:
    """Complete addresses of SKILL.md files, without the scheme."""
    skills = Skill.objects.visible_to(caller).order_by("slug", "project_id")
    paths = [address_of(skill).removeprefix(SCHEME) for skill in skills.only("slug", "project_id")]
    return [path for path in paths if path.startswith(typed)]


def mime_type_of(path: str) -> str:
    if path.endswith(".md"):
        return MARKDOWN
    return mimetypes.guess_type(path)[0] or BYTES


def _as_folders(skills: Iterable[Skill]) -> list[SkillFolder]:
    page = list(skills)
    files = SkillFile.objects.filter(
        versions__skill__in=page, versions__version=F("versions__skill__version")
    )
    of_skill: dict[int, list[SkillFile]] = defaultdict(list)
    for file in files.only("skill_id", "path", "digest", "size"):
        of_skill[file.skill_id].append(file)
    return [
        SkillFolder(
            uri=address_of(skill),
            frontmatter=skill.front_matter,
            resources=[
                FileOfSkill(
                    uri=address_of(skill, file.path),
                    digest=f"sha256:{file.digest}",
                    size=file.size,
                )
                for file in of_skill[skill.pk]
            ],
        )
        for skill in page
    ]


def _child(skill: Skill, path: str, size: int) -> Listed:
    name = path.rpartition("/")[2]
    address = address_of(skill, path)
    return Listed(uri=address, name=name, title=name, mime_type=mime_type_of(path), size=size)


def _subfolder(skill: Skill, path: str) -> Listed:
    name = path.rpartition("/")[2]
    return Listed(uri=address_of(skill, path), name=name, title=name, mime_type=DIRECTORY)


def _place_of(address: str) -> Place:
    if not address.startswith(SCHEME) or address.endswith("/"):
        raise NotFound(f"there is no skill at {address!r}")
    return _place(unquote(address.removeprefix(SCHEME)))


def _place(path: str) -> Place:
    owner, _, rest = path.partition("/") if path.startswith(OWNER) else ("", "", path)
    slug, _, inside = rest.partition("/")
    if not owner:
        return Place(None, slug, inside)
    project_id = parse_digits(owner.removeprefix(OWNER))
    if project_id is None:
        raise NotFound(f"there is no skill at '{SCHEME}{path}'")
    return Place(project_id, slug, inside)


def _skill_at(caller: Caller, place: Place) -> Skill:
    in_use = Skill.objects.visible_to(caller).published()
    skill = in_use.filter(slug=place.slug, project=place.project_id).first()
    if skill is None:
        raise NotFound(f"there is no skill named {place.slug!r} at that address")
    return skill

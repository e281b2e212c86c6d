"""Finding skills in a folder or a zip archive, and reading them without being led astray."""

import os
import stat
import subprocess
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from contextd.errors import Invalid
from skills import documents, packages
from skills.packages import Package, PackageFile
from skills.wording import Wording

MOST_ENTRIES = 50_000
MOST_UNPACKED = 256 * 1024 * 1024
GIT_SECONDS = 30
PASSED_OVER = {".git", ".hg", ".svn", "__pycache__", "node_modules", ".venv", ".DS_Store"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a source, not read yet; reading raises Invalid for what must not be kept."""

    path: str
    read: Callable[[], PackageFile]


@dataclass(frozen=True, slots=True)
class Found:
    """A folder with a SKILL.md: the skill in it, or why it is none."""

    place: str
    package: Package | None
    wording: Wording | None
    problems: list[str]


def skills_at(path: Path) -> list[Found]:
    """Those of a folder, a git work tree or a file. Raises Invalid when there are none."""
    if path.is_dir():
        return _found(_entries_of_folder(path), root=path.resolve().name)
    if not path.is_file():
        raise Invalid(f"there is neither a folder nor a file at {path}", field="path")
    with path.open("rb") as file:
        return skills_in(file)


def skills_in(file: IO[bytes]) -> list[Found]:
    """Those of a zip archive, or the one that a SKILL.md is by itself."""
    is_document = documents.begins(file.read(documents.FEW_BYTES))
    file.seek(0)
    if is_document:
        return _found([_alone(file)], root=None)
    try:
        with zipfile.ZipFile(file) as opened:
            return _found(_entries_of_archive(opened), root=None)
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise Invalid(
            f"it is no zip archive that can be read ({error}), and no {documents.NAME}, "
            "which begins with a line ---",
            field="path",
        ) from None


def _found(entries: Iterable[Entry], root: str | None) -> list[Found]:
    by_path: dict[str, Entry] = {}
    for entry in entries:
        if by_path.setdefault(entry.path, entry) is not entry:
            raise Invalid(f"the path {entry.path!r} is there twice", field="path")
    found = [_skill(folder, by_path, root) for folder in _folders_of_skills(by_path)]
    if not found:
        raise Invalid(f"there is no {documents.NAME} in it", field="path")
    return found


def _folders_of_skills(paths: Iterable[str]) -> list[PurePosixPath]:
    """The topmost ones: what is below a skill belongs to it, further skills included."""
    folders = sorted(
        PurePosixPath(path).parent for path in paths if PurePosixPath(path).name == documents.NAME
    )
    return [folder for folder in folders if not set(folder.parents) & set(folders)]


def _skill(folder: PurePosixPath, entries: Mapping[str, Entry], root: str | None) -> Found:
    prefix = "" if folder == PurePosixPath() else f"{folder}/"
    inside = [entry for path, entry in entries.items() if path.startswith(prefix)]
    try:
        package = packages.packed(_read(inside, prefix))
        document = package.document
        problems = documents.problems_of(document, folder.name or root)
        wording = None if problems else documents.wording_of(document)
    except Invalid as error:
        return Found(str(folder), None, None, [error.message])
    return Found(str(folder), package, wording, problems)


def _read(entries: Iterable[Entry], prefix: str) -> Iterator[PackageFile]:
    size = 0
    for number, entry in enumerate(entries, 1):
        file = entry.read()
        size += len(file.content)
        if size > packages.MOST_BYTES or number > packages.MOST_FILES:
            raise Invalid(
                f"it is larger than {packages.MOST_FILES} files or {packages.MOST_BYTES:,} bytes",
                field="files",
            )
        yield PackageFile(file.path.removeprefix(prefix), file.content, file.is_executable)


def _alone(file: IO[bytes]) -> Entry:
    content = file.read(packages.MOST_BYTES + 1)
    if len(content) > packages.MOST_BYTES:
        raise Invalid(f"it has more than {packages.MOST_BYTES:,} bytes", field="path")
    return Entry(documents.NAME, lambda: PackageFile(documents.NAME, content, False))


def _entries_of_folder(folder: Path) -> Iterator[Entry]:
    for path in _listed_by_git(folder) or _walked(folder):
        relative = path.relative_to(folder)
        if not PASSED_OVER & set(relative.parts):
            yield Entry(relative.as_posix(), lambda path=path, at=relative: _file(path, at))  # type: ignore[misc]


def _file(path: Path, relative: Path) -> PackageFile:
    if path.is_symlink():
        raise Invalid(f"{relative} is a link; put the file itself there", field="files")
    size = path.stat().st_size
    if size > packages.MOST_BYTES:
        raise Invalid(f"{relative} has {size:,} bytes", field="files")
    executable = bool(path.stat().st_mode & stat.S_IXUSR)
    return PackageFile(relative.as_posix(), path.read_bytes(), executable)


def _walked(folder: Path) -> Iterator[Path]:
    for above, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - PASSED_OVER)
        links = [name for name in folders if (Path(above) / name).is_symlink()]
        yield from (Path(above) / name for name in sorted([*files, *links]))


def _listed_by_git(folder: Path) -> list[Path]:
    """What git does not ignore; nothing where this is no work tree, or there is no git."""
    if not any((above / ".git").exists() for above in (folder, *folder.resolve().parents)):
        return []
    listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    # The settings of a work tree may name a program to run.
    command = ["git", "-c", "core.fsmonitor=false", *listing]
    try:
        listed = subprocess.run(  # noqa: S603
            command, cwd=folder, capture_output=True, timeout=GIT_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return []
    paths = {folder / os.fsdecode(name) for name in listed.stdout.split(b"\0") if name}
    return sorted(path for path in paths if path.is_symlink() or path.is_file())


def _entries_of_archive(archive: zipfile.ZipFile) -> Iterator[Entry]:
    members = archive.infolist()
    size = sum(member.file_size for member in members)
    if len(members) > MOST_ENTRIES or size > MOST_UNPACKED:
        raise Invalid(
            f"unpacked it has {len(members):,} files and {size:,} bytes; "
            f"at most {MOST_ENTRIES:,} and {MOST_UNPACKED:,} are read",
            field="path",
        )
    for member in members:
        if member.is_dir() or PASSED_OVER & set(PurePosixPath(member.filename).parts):
            continue
        packages.check_path(member.filename)
        yield Entry(member.filename, lambda member=member: _unpacked(archive, member))  # type: ignore[misc]


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> PackageFile:
    """However small it says it is, no more than that is read."""
    mode = member.external_attr >> 16
    if stat.S_ISLNK(mode):
        raise Invalid(f"{member.filename} is a link; put the file itself there", field="files")
    if member.flag_bits & 0x1:
        raise Invalid(f"{member.filename} is encrypted", field="files")
    if member.file_size > packages.MOST_BYTES:
        raise Invalid(f"{member.filename} has {member.file_size:,} bytes", field="files")
    with archive.open(member) as unpacking:
        content = unpacking.read(member.file_size + 1)
    if len(content) > member.file_size:
        raise Invalid(f"{member.filename} is larger than it says", field="files")
    return PackageFile(member.filename, content, bool(mode & stat.S_IXUSR))

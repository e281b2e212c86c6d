"""Find skills in a folder or zip archive, and read them safely."""

import os
import stat
import subprocess
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePath, PurePosixPath
from typing import IO

from contextd import git
from contextd.errors import Invalid
from skills import documents, packages
from skills.packages import Package, PackageFile
from skills.wording import Wording

MAX_ENTRIES = 50_000
MAX_UNPACKED_BYTES = 256 * 1024 * 1024
GIT_SECONDS = 30
CORRUPT = (
    *(zipfile.BadZipFile, zlib.error),
    *(OSError, EOFError, ValueError, NotImplementedError),
)
"""Errors raised for a damaged archive."""
BOUNDED = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
"""Compressions of which no more is unpacked than is asked for."""
VERSION_CONTROL = {".git", ".hg", ".svn"}
"""Names, in any case, that are never read."""
GENERATED = {"__pycache__", "node_modules", ".venv", ".DS_Store"}
"""Names that are left out of a folder where git does not tell which files belong to it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a source; reading it raises Invalid if it must not be imported."""

    path: str
    read: Callable[[], PackageFile]
    is_left_out: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A folder with a SKILL.md: its skill, or why it is not a valid one.

    `owner` is the name of the parent folder, and `left_out` names what is not imported. One that
    `is_alone` was given as a SKILL.md without its folder.
    """

    place: str
    package: Package | None
    wording: Wording | None
    problems: list[str]
    owner: str = ""
    left_out: list[str] = field(default_factory=list)
    is_alone: bool = False
    has_files_beside: bool = False


def skills_at(path: Path) -> list[Found]:
    """Find the skills of a folder, git work tree or file. Raises Invalid if there are none."""
    if path.is_dir():
        listed = _listed_by_git(path)
        if listed is None:
            return skills_in_folder(path)
        return _found(_entries_of_folder(path, listed), path.resolve())
    if not path.is_file():
        raise Invalid(f"there is neither a folder nor a file at {path}", field="path")
    with path.open("rb") as file:
        found = skills_in(file, owner=path.resolve().parent.parent.name)
    beside = path.name == documents.NAME and len(os.listdir(path.parent)) > 1
    return [replace(one, has_files_beside=beside and one.is_alone) for one in found]


def skills_in_folder(folder: Path) -> list[Found]:
    """Find the skills of a folder, ignoring git; what programs generate is left out."""
    return _found(_entries_of_folder(folder, _walked(folder), GENERATED), folder.resolve())


def skills_in(file: IO[bytes], owner: str = "") -> list[Found]:
    """Find the skills of a zip archive, or of a single SKILL.md, in a folder of `owner`."""
    is_document = documents.begins(file.read(documents.FEW_BYTES))
    file.seek(0)
    if is_document:
        found = _found([_alone(file)], PurePath())
        return [replace(one, owner=owner, is_alone=True) for one in found]
    try:
        with zipfile.ZipFile(file) as opened:
            return _found(_entries_of_archive(opened), PurePath())
    except CORRUPT as error:
        raise Invalid(
            f"it is neither a readable zip archive ({error}) nor a {documents.NAME}, "
            "which begins with a line ---",
            field="path",
        ) from None


def _found(entries: Iterable[Entry], root: PurePath) -> list[Found]:
    by_path: dict[str, Entry] = {}
    for entry in entries:
        if by_path.setdefault(entry.path, entry) is not entry:
            raise Invalid(f"the path {entry.path!r} occurs twice", field="path")
    inside: dict[PurePosixPath, list[Entry]] = {one: [] for one in _folders_of_skills(by_path)}
    for path, entry in by_path.items():
        for above in inside.keys() & set(PurePosixPath(path).parents):
            inside[above].append(entry)
    if not inside:
        for path in by_path:
            packages.check_path(path)
        raise Invalid(f"it has no {documents.NAME}", field="path")
    return [_skill(folder, its_entries, root) for folder, its_entries in inside.items()]


def _folders_of_skills(paths: Iterable[str]) -> list[PurePosixPath]:
    """Return the topmost folders; nested skills belong to the outer one."""
    folders = {
        PurePosixPath(path).parent for path in paths if PurePosixPath(path).name == documents.NAME
    }
    return sorted(folder for folder in folders if not set(folder.parents) & folders)


def _skill(folder: PurePosixPath, entries: Sequence[Entry], root: PurePath) -> Found:
    prefix = "" if folder == PurePosixPath() else f"{folder}/"
    whole = root / folder
    left_out = [entry.path for entry in entries if entry.is_left_out]
    try:
        package = packages.packed(_read(entries, prefix))
        document = package.document
        problems = documents.problems_of(document, whole.name or None)
        wording = None if problems else documents.wording_of(document)
    except Invalid as error:
        return Found(str(folder), None, None, [error.message])
    return Found(str(folder), package, wording, problems, whole.parent.name, left_out)


def _read(entries: Iterable[Entry], prefix: str) -> Iterator[PackageFile]:
    size = 0
    for number, entry in enumerate((one for one in entries if not one.is_left_out), 1):
        file = entry.read()
        size += len(file.content)
        if size > packages.MAX_BYTES or number > packages.MAX_FILES:
            raise Invalid(
                f"it is larger than {packages.MAX_FILES} files or {packages.MAX_BYTES:,} bytes",
                field="files",
            )
        yield PackageFile(file.path.removeprefix(prefix), file.content, file.is_executable)


def _alone(file: IO[bytes]) -> Entry:
    content = file.read(packages.MAX_BYTES + 1)
    if len(content) > packages.MAX_BYTES:
        raise Invalid(f"it has more than {packages.MAX_BYTES:,} bytes", field="path")
    return Entry(documents.NAME, lambda: PackageFile(documents.NAME, content, False))


def _entries_of_folder(
    folder: Path, paths: Iterable[Path], left_out: Collection[str] = ()
) -> Iterator[Entry]:
    for path in paths:
        relative = path.relative_to(folder)
        if not _is_version_control(relative):
            is_left_out = relative.name in left_out
            yield Entry(relative.as_posix(), partial(_file, path, relative), is_left_out)


def _is_version_control(path: PurePath) -> bool:
    return any(part.lower() in VERSION_CONTROL for part in path.parts)


def _file(path: Path, relative: Path) -> PackageFile:
    if path.is_symlink():
        raise Invalid(f"{relative} is a link; put the file itself there", field="files")
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) and not path.is_dir():
            raise Invalid(f"{relative} is not a file", field="files")
        if status.st_size > packages.MAX_BYTES:
            raise Invalid(f"{relative} has {status.st_size:,} bytes", field="files")
        content = path.read_bytes()
    except OSError as error:
        raise Invalid(f"{relative} cannot be read: {error.strerror}", field="files") from None
    return PackageFile(relative.as_posix(), content, bool(status.st_mode & stat.S_IXUSR))


def _walked(folder: Path) -> Iterator[Path]:
    """Walk a folder; yield folders themselves that are generated or cannot be opened."""
    closed: list[OSError] = []
    for above, folders, files in os.walk(folder, onerror=closed.append):
        generated = GENERATED & set(folders)
        folders[:] = sorted(set(folders) - generated - VERSION_CONTROL)
        links = [name for name in folders if (Path(above) / name).is_symlink()]
        yield from (Path(above) / name for name in sorted([*files, *links, *generated]))
    yield from (Path(error.filename) for error in closed)


def _listed_by_git(folder: Path) -> list[Path] | None:
    """Return the files git does not ignore; None outside a work tree, or if it ignores all."""
    if not any((above / ".git").exists() for above in (folder, *folder.resolve().parents)):
        return None
    listed = _git(folder, *git.NOT_IGNORED)
    if listed.returncode:
        reason = os.fsdecode(listed.stderr).strip()
        raise _unlisted(folder, reason)
    # The name of a repository within this one ends with a slash.
    names = [os.fsdecode(name).removesuffix("/") for name in listed.stdout.split(b"\0") if name]
    for name in names:
        if not git.is_inside(name):
            raise _unlisted(folder, f"its index has the path {name!r}, which leads out")
    paths = {folder / name for name in names}
    if not paths and _git(folder, "check-ignore", "-q", ".").returncode == 0:
        return None
    return sorted(path for path in paths if path.is_symlink() or path.is_file())


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return git.ask(folder, *arguments, seconds=GIT_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        raise _unlisted(folder, str(error)) from None


def _unlisted(folder: Path, reason: str) -> Invalid:
    """Return the error that prevents importing ignored files, such as credentials."""
    return Invalid(f"git cannot list which files of {folder} it ignores: {reason}", field="path")


def _entries_of_archive(archive: zipfile.ZipFile) -> Iterator[Entry]:
    members = archive.infolist()
    size = sum(member.file_size for member in members)
    if len(members) > MAX_ENTRIES or size > MAX_UNPACKED_BYTES:
        raise Invalid(
            f"unpacked it has {len(members):,} files and {size:,} bytes; "
            f"at most {MAX_ENTRIES:,} and {MAX_UNPACKED_BYTES:,} are read",
            field="path",
        )
    for member in members:
        path = PurePosixPath(member.filename)
        if path.name and not member.is_dir() and not _is_version_control(path):
            yield Entry(member.filename, partial(_unpacked, archive, member))


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> PackageFile:
    """Unpack a member, reading no more than its declared size."""
    packages.check_path(member.filename)
    mode = member.external_attr >> 16
    if stat.S_ISLNK(mode):
        raise Invalid(f"{member.filename} is a link; put the file itself there", field="files")
    if member.flag_bits & 0x1:
        raise Invalid(f"{member.filename} is encrypted", field="files")
    if member.compress_type not in BOUNDED:
        raise Invalid(
            f"{member.filename} must be stored or compressed with deflate, as zip programs do"
            " unless told otherwise",
            field="files",
        )
    if member.file_size > packages.MAX_BYTES:
        raise Invalid(f"{member.filename} has {member.file_size:,} bytes", field="files")
    try:
        with archive.open(member) as unpacking:
            content = unpacking.read(member.file_size + 1)
    except CORRUPT as error:
        raise Invalid(f"{member.filename} cannot be unpacked: {error}", field="files") from None
    if len(content) > member.file_size:
        raise Invalid(f"{member.filename} is larger than declared", field="files")
    return PackageFile(member.filename, content, bool(mode & stat.S_IXUSR))

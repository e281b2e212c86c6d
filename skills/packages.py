"""A skill as the files of one folder, and the limits of such a folder."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from unicodedata import normalize

from contextd.errors import Invalid
from skills import documents
from skills.documents import Document

MAX_FILES = 512
MAX_BYTES = 16 * 1024 * 1024
PATH_LENGTH = 500
"""Characters of a path. The limits above are what every host of skills must load (SEP-2640)."""


@dataclass(frozen=True, slots=True)
class PackageFile:
    path: str
    content: bytes
    is_executable: bool = False

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @property
    def identity(self) -> tuple[str, str, bool]:
        return self.path, self.digest, self.is_executable


@dataclass(frozen=True, slots=True)
class Package:
    """All files of one version; one of them is its SKILL.md."""

    files: tuple[PackageFile, ...]

    @property
    def raw_document(self) -> bytes:
        return next(file.content for file in self.files if file.path == documents.NAME)

    @property
    def document(self) -> Document:
        return documents.read(self.raw_document)

    @property
    def identities(self) -> frozenset[tuple[str, str, bool]]:
        """Return a value that is equal for packages with identical bytes."""
        return frozenset(file.identity for file in self.files)

    def with_document(self, content: bytes) -> "Package":
        if content == self.raw_document:
            return self
        return Package(
            tuple(
                replace(file, content=content) if file.path == documents.NAME else file
                for file in self.files
            )
        )


def with_files_of(former: Package, document: bytes) -> Package:
    """Return a package with another SKILL.md. Raises Invalid if it is too large."""
    return packed(former.with_document(document).files)


def of_document(content: bytes) -> Package:
    return Package((PackageFile(documents.NAME, content),))


def packed(files: Iterable[PackageFile]) -> Package:
    """Build a package. Raises Invalid if hosts of skills would not load it."""
    together = Package(tuple(sorted(files, key=lambda file: file.path)))
    paths = [file.path for file in together.files]
    if documents.NAME not in paths:
        raise Invalid(f"it has no {documents.NAME}", field=documents.NAME)
    if len(paths) > MAX_FILES:
        raise Invalid(f"it has {len(paths)} files, at most {MAX_FILES} are kept", field="files")
    size = sum(len(file.content) for file in together.files)
    if size > MAX_BYTES:
        raise Invalid(f"it has {size:,} bytes, at most {MAX_BYTES:,} are kept", field="files")
    for path in paths:
        check_path(path)
    _check_collisions(paths)
    return together


def check_path(path: str) -> None:
    """Raises Invalid unless the path stays within its folder, on every system."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in re.split(r"[/\\]", path) or re.match(r"[A-Za-z]:", path):
        raise Invalid(f"the path {path!r} leads out of the folder of the skill", field="files")
    if "\\" in path or str(pure) != path:
        raise Invalid(
            f"the path {path!r} must separate names by single slashes, as in a/b.md", field="files"
        )
    if len(path) > PATH_LENGTH or not path.isprintable():
        raise Invalid(
            f"the path {path[:80]!r} must have at most {PATH_LENGTH} printable characters",
            field="files",
        )


def _check_collisions(paths: list[str]) -> None:
    """Raises Invalid for paths that are one file where case or Unicode form does not count."""
    known: set[str] = set()
    folders = {_folded(str(parent)) for path in paths for parent in PurePosixPath(path).parents}
    for path in paths:
        folded = _folded(path)
        if folded in known or folded in folders:
            raise Invalid(f"the path {path!r} occurs twice", field="files")
        known.add(folded)


def _folded(path: str) -> str:
    return normalize("NFC", normalize("NFC", path).casefold())

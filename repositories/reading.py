"""Read the text of files, and nothing outside of their root folder."""

import codecs
import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from contextd import git
from repositories import rules
from repositories.rules import Reason

BINARY_WITHIN = 8000
MAX_CONTROL_SHARE = 0.01
_CONTROL = bytes({*range(32)} - {*b"\t\n\f\r\x1b"})
# The byte order mark of UTF-32 begins like that of UTF-16.
_WIDE = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# O_PATH, if the system has it, needs no permission to list the folder.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Non-blocking, since opening a pipe would wait for a writer.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LINK_ERRORS = {errno.ELOOP, errno.EMLINK, errno.ENOTDIR}
LEADS_OUT = "its path leads out of the folder"


class Skipped(Exception):
    """Raised for a file that must not be indexed."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class SourceText:
    """A file and its text; `path` is relative to the root."""

    path: str
    text: str
    size: int
    modified_ns: int


class Reader:
    """Reads below `root`, which is a real path. Follows no link, even if one appears later."""

    def __init__(self, root: Path, max_size: int) -> None:
        self._root, self._max_size = root, max_size

    def read(self, path: str, *, any_content: bool = False) -> SourceText:
        """Read a file. Raises Skipped, FileNotFoundError or NotADirectoryError if gone, or OSError.

        `any_content` is true for files that their owner includes although they look generated.
        """
        content, status = self._content(path)
        text = decoded(content)
        reason = rules.by_content(path, text)
        if reason and not (any_content and reason in (Reason.GENERATED, Reason.MINIFIED)):
            raise Skipped(reason)
        return SourceText(path, text, status.st_size, status.st_mtime_ns)

    def _content(self, path: str) -> tuple[bytes, os.stat_result]:
        if not git.is_inside(path):
            raise PermissionError(errno.EPERM, LEADS_OUT)
        descriptor = _opened(self._root / path)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise Skipped(Reason.SPECIAL)
            if status.st_size > self._max_size:
                raise Skipped(Reason.TOO_LARGE)
            with open(descriptor, "rb", closefd=False) as file:
                return file.read(self._max_size), status
        finally:
            os.close(descriptor)


def _opened(place: Path) -> int:
    """Open each folder from its parent, since a check of the whole path may be outdated."""
    root, *folders, name = place.parts
    parent = os.open(root, _FOLDER)
    try:
        for folder in folders:
            inner = _opened_in(parent, folder, _FOLDER)
            os.close(parent)
            parent = inner
        return _opened_in(parent, name, _FILE)
    finally:
        os.close(parent)


def _opened_in(parent: int, name: str, flags: int) -> int:
    """Open without following a link. Raises Skipped for a link or a special file, or OSError."""
    try:
        return os.open(name, flags, dir_fd=parent)
    except OSError as error:
        if error.errno in _LINK_ERRORS and _is_link(parent, name):
            raise Skipped(Reason.LINK) from None
        if error.errno == errno.ENXIO:
            raise Skipped(Reason.SPECIAL) from None
        raise


def _is_link(parent: int, name: str) -> bool:
    return stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)


def decoded(content: bytes) -> str:
    """Return the text. Raises Skipped if it is not text, or has NULs or lone surrogates."""
    wide = next((name for mark, name in _WIDE.items() if content.startswith(mark)), None)
    if wide:
        text = content.decode(wide, errors="replace")
    elif b"\0" in content[:BINARY_WITHIN]:
        raise Skipped(Reason.BINARY)
    else:
        text = _narrow(content)
    return text.replace("\0", " ").replace("\r\n", "\n").replace("\r", "\n")


def _narrow(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        if len(content) - len(content.translate(None, _CONTROL)) > MAX_CONTROL_SHARE * len(content):
            raise Skipped(Reason.BINARY) from None
        return content.decode("latin-1")

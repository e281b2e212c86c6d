"""Read the text of files, and nothing outside of their root folder."""

import codecs
import errno
import os
import stat
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from repositories import rules
from repositories.listing import is_real
from repositories.rules import Reason

BINARY_WITHIN = 8000
FOLDERS_REMEMBERED = 10_000
MAX_CONTROL_SHARE = 0.01
_CONTROL = bytes({*range(32)} - {*b"\t\n\f\r\x1b"})
# The byte order mark of UTF-32 begins like that of UTF-16.
_WIDE = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_LINK_ERRORS = {errno.ELOOP, errno.EMLINK}


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
    """Reads below `root`, which is a real path."""

    def __init__(self, root: Path, max_size: int) -> None:
        self._root, self._max_size = root, max_size
        self._lies_here = lru_cache(FOLDERS_REMEMBERED)(self._is_real)

    def read(self, path: str, *, whatever: bool = False) -> SourceText:
        """Read a file. Raises Skipped, FileNotFoundError or NotADirectoryError if gone, or OSError.

        `whatever` is true for files that their owner includes although they look generated.
        """
        if not self._lies_here(os.path.dirname(path)):
            raise Skipped(Reason.LINK)
        content, status = self._content(path)
        text = decoded(content)
        reason = rules.by_content(path, text)
        if reason and not (whatever and reason in (Reason.GENERATED, Reason.MINIFIED)):
            raise Skipped(reason)
        return SourceText(path, text, status.st_size, status.st_mtime_ns)

    def _content(self, path: str) -> tuple[bytes, os.stat_result]:
        # Non-blocking, since opening a pipe would wait for a writer.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(self._root / path, flags)
        except OSError as error:
            if error.errno in _LINK_ERRORS:
                raise Skipped(Reason.LINK) from None
            if error.errno == errno.ENXIO:
                raise Skipped(Reason.SPECIAL) from None
            raise
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

    def _is_real(self, folder: str) -> bool:
        return is_real(self._root / folder)


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

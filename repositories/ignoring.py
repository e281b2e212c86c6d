"""Apply ignore files as git does: each covers its own folder, the nearest one takes precedence."""

import errno
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from repositories import rules

MAX_BYTES = 1_000_000
MAX_PATTERNS = 10_000
MAX_PATTERN_CHARACTERS = 1000
MAX_CACHED_FOLDERS = 10_000


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of an ignore file; it ignores files or, if it starts with `!`, re-includes them."""

    line: str
    ignores: bool
    expression: re.Pattern[str]

    def matches(self, path: str, *, is_folder: bool) -> bool:
        """Return whether it matches the path itself, not only one of its parent folders."""
        found = self.expression.search(path)
        if found and not _ends_at_folder(found):
            return True
        inside = self.expression.finditer(f"{path}/") if is_folder else ()
        return any(_ends_at_folder(one) and one.end() > len(path) for one in inside)


def _ends_at_folder(found: re.Match[str]) -> bool:
    return bool(found.groupdict().get("ps_d"))  # the group that pathspec adds for that


class Ignores:
    """Reads ignore files with the given names below `root` on demand.

    Later names take precedence over earlier ones. All methods raise OSError for an ignore file
    that cannot be read, is too large or a link, since what it ignores is unknown then.
    """

    def __init__(self, root: Path, names: Sequence[str]) -> None:
        self._root, self._names = root, names
        self._patterns_of = lru_cache(MAX_CACHED_FOLDERS)(self._read)

    def verdict(self, path: str, *, is_folder: bool = False) -> bool | None:
        """Return True if ignored, False if re-included, else None; ignores parent folders."""
        for folder in PurePosixPath(path).parents:
            inside = path if str(folder) == "." else path.removeprefix(f"{folder}/")
            for patterns in self._patterns_of(str(folder)):
                for pattern in reversed(patterns):
                    if pattern.matches(inside, is_folder=is_folder):
                        return pattern.ignores
        return None

    def verdict_within(self, path: str, *, is_folder: bool = False) -> bool | None:
        """Return the verdict; without one, that of the nearest parent folder.

        Everything in an ignored folder is ignored.
        """
        folders = [str(folder) for folder in PurePosixPath(path).parents][:-1]
        above = [self.verdict(folder, is_folder=True) for folder in folders]
        if any(above):
            return True
        verdicts = (self.verdict(path, is_folder=is_folder), *above)
        return next((verdict for verdict in verdicts if verdict is not None), None)

    def re_includes_below(self, folder: str) -> bool:
        """Return whether a file of the last name re-includes what may be in an ignored folder."""
        name = PurePosixPath(folder).name
        return any(
            not pattern.ignores and name in pattern.line.lstrip("!").split("/")
            for parent in PurePosixPath(folder).parents
            for pattern in self._patterns_of(str(parent))[0]
        )

    def _read(self, folder: str) -> list[Sequence[Pattern]]:
        return [_patterns_in(self._root / folder / name) for name in reversed(self._names)]


def _patterns_in(file: Path) -> Sequence[Pattern]:
    """Parse an ignore file, if there is one. Skip lines that are not valid patterns, as git does.

    Raises OSError, with a message that names the file.
    """
    try:
        status = file.lstat()
        if stat.S_ISDIR(status.st_mode):
            return ()
        _ensure_readable(status)
        text = file.read_bytes().decode("utf-8-sig", errors="surrogateescape")
        return [pattern for line in _lines(text) for pattern in _parsed(line)]
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise OSError(error.errno, f"{file.name} cannot be read: {error.strerror}") from None


def _ensure_readable(status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise OSError(errno.ELOOP, "it is a link")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a file")
    if status.st_size > MAX_BYTES:
        raise OSError(errno.EFBIG, f"it is larger than {MAX_BYTES} bytes")


def _lines(text: str) -> Sequence[str]:
    """Return the lines with a pattern. Raises OSError for more than is matched in a short time."""
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    if len(lines) > MAX_PATTERNS:
        raise OSError(errno.EFBIG, f"it has more than {MAX_PATTERNS:,} patterns")
    if any(len(line) > MAX_PATTERN_CHARACTERS for line in lines):
        raise OSError(errno.EFBIG, f"a pattern has more than {MAX_PATTERN_CHARACTERS:,} characters")
    return lines


def _parsed(line: str) -> Sequence[Pattern]:
    """Return the pattern of a line; none if it is a comment or invalid."""
    try:
        parsed = rules.patterns([line]).patterns
    except ValueError:
        return ()
    return [
        Pattern(line, one.include, one.regex)
        for one in parsed
        if one.include is not None and one.regex is not None
    ]

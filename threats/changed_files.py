"""Parse the files that a change touches, and match them against file patterns."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from contextd import expressions
from contextd.errors import Invalid

_GIT = re.compile(r"diff --git (.+)")
_NEW = re.compile(r"(?:\+\+\+|(rename|copy) to) ([^\t]+)")
_OLD = re.compile(r"--- ([^\t]+)")
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_ESCAPED = re.compile(rb"\\([0-3][0-7]{2}|.)")
_CONTROLS = dict(zip(b"abtnvfr", b"\a\b\t\n\v\f\r", strict=True))
_GLOB = re.compile(r"(\*\*/|\*\*|\*|\?)")
_MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
NOTHING = "/dev/null"


@dataclass(frozen=True, slots=True)
class Hunk:
    """Adjacent changed lines of a file."""

    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file with its changed lines: none if only the path is known, or if it is deleted."""

    path: str
    hunks: tuple[Hunk, ...] = ()

    @property
    def added(self) -> str:
        return "\n".join(line for hunk in self.hunks for line in hunk.added)

    @property
    def removed(self) -> str:
        return "\n".join(line for hunk in self.hunks for line in hunk.removed)


def gather(paths: Sequence[str], diff: str) -> list[ChangedFile]:
    """Return each file once, those of the diff first."""
    changed = {file.path: file for file in in_diff(diff)} if diff.strip() else {}
    for path in paths:
        changed.setdefault(path.replace("\\", "/"), ChangedFile(path.replace("\\", "/")))
    if not changed:
        raise Invalid("paths or diff is required", field="paths", error="is required")
    return list(changed.values())


def in_diff(diff: str) -> list[ChangedFile]:
    """Parse a unified diff. Raises Invalid if it is not one."""
    files: dict[str, list[Hunk]] = {}
    old = ""
    hunks: list[Hunk] = []
    for line, is_content in _lines(diff):
        if is_content:
            _add_line(hunks, line)
        elif _HUNK.match(line):
            hunks.append(Hunk())
        elif found := _OLD.match(line):
            old = _name(found[1], "a/")
        elif new := _named_by(line):
            hunks = files.setdefault(old if new == NOTHING else new, [])
            hunks = [] if new == NOTHING else hunks  # a deleted file has nothing left to protect
    if not files:
        sentence = "diff names no file: send it as `git diff` prints it"
        raise Invalid(sentence, field="diff", error="names no file")
    return [ChangedFile(path, tuple(hunks)) for path, hunks in files.items()]


def _add_line(hunks: list[Hunk], line: str) -> None:
    if not hunks:
        hunks.append(Hunk())
    if line.startswith("+"):
        hunks[-1].added.append(line[1:])
    elif line.startswith("-"):
        hunks[-1].removed.append(line[1:])


def is_meant(path: str, pattern: str) -> bool:
    """Match as in .gitignore, wherever the repository is. Raises TimeoutError."""
    # Most patterns share no word with the path, which is a hundred times faster to check.
    return _word(pattern) in path.lower() and expressions.finds(_expression(pattern), path)


def _lines(diff: str) -> Iterator[tuple[str, bool]]:
    """Yield each line and whether it is one of the file, which may look like a header itself.

    A hunk's header has the numbers of old and new lines that follow.
    """
    old = new = 0
    for line in diff.replace("\r\n", "\n").split("\n"):
        if head := _HUNK.match(line):
            old, new = (int(count or 1) for count in head.groups())
            yield line, False
            continue
        if line and line[0] not in "+- \\":
            old = new = 0
        is_inside = old > 0 or new > 0
        is_change = line.startswith(("+", "-")) and not line.startswith(("+++ ", "--- "))
        yield line, is_inside or is_change
        old -= not line.startswith(("+", "\\"))
        new -= not line.startswith(("-", "\\"))


def _named_by(header: str) -> str:
    """Return the path in a header line; empty if later lines have it."""
    if found := _NEW.match(header):
        return _name(found[2], "" if found[1] else "b/")
    if found := _GIT.match(header):  # the only header of a binary or empty file
        half = len(found[1]) // 2
        old, new = _name(found[1][:half], "a/"), _name(found[1][half + 1 :], "b/")
        return new if old == new else ""
    return ""


def _name(printed: str, prefix: str) -> str:
    """Decode a name, since git quotes names with non-ASCII characters."""
    if len(printed) > 1 and printed[0] == printed[-1] == '"':
        raw = _ESCAPED.sub(_byte, printed[1:-1].encode())
        printed = raw.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
    return printed.removeprefix(prefix)


def _byte(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return bytes([int(code, 8)]) if len(code) > 1 else bytes([_CONTROLS.get(code[0], code[0])])


@lru_cache(maxsize=2000)
def _word(pattern: str) -> str:
    """Return the longest literal part, which every match contains."""
    return max((part.strip("/") for part in re.split(r"[*?]", pattern.lower())), key=len)


@lru_cache(maxsize=2000)
def _expression(pattern: str) -> str:
    anywhere = f"**/{pattern.removeprefix('/')}"
    parts = (_MEANINGS.get(part, re.escape(part)) for part in _GLOB.split(anywhere))
    return rf"(?is)\A{''.join(parts)}\Z"

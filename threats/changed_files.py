"""Parse the files that a change touches, and match them against file patterns."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from contextd import expressions
from contextd.errors import Invalid

_HEADER = re.compile(
    r"(diff --(?:git|cc|combined)|(?:rename|copy) to|deleted file mode|---|\+\+\+) ([^\t]+)"
)
_NAMED_ONCE = ("rename to", "copy to", "diff --cc", "diff --combined")
"""Headers with nothing but the path."""
_FIRST = {"diff --git", "diff --cc", "diff --combined", "+++"}
"""One of these is among the headers of each file."""
_HUNK = re.compile(r"(@@+) ((?:-\d+(?:,\d+)? )+\+\d+(?:,\d+)?) \1")
_COUNT = re.compile(r"[-+]\d+(?:,(\d+))?")
_PREFIXES = ("a/ b/", "i/ w/", "c/ i/", "c/ w/", "o/ w/", "1/ 2/")
"""Those of git for the old and the new path; `git diff -R` prints them the other way round."""
_PAIRS = {tuple(pair.split()[::step]) for pair in _PREFIXES for step in (1, -1)}
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
    is_deleted: bool = False

    @property
    def added(self) -> str:
        return "\n".join(line for hunk in self.hunks for line in hunk.added)

    @property
    def removed(self) -> str:
        return "\n".join(line for hunk in self.hunks for line in hunk.removed)


def gather(paths: Sequence[str], diff: str) -> list[ChangedFile]:
    """Return each file once, those of the diff first; deleted ones need no protection."""
    changed = {file.path: file for file in in_diff(diff)} if diff.strip() else {}
    for path in paths:
        changed.setdefault(path.replace("\\", "/"), ChangedFile(path.replace("\\", "/")))
    if not changed:
        raise Invalid("paths or diff is required", field="paths", error="is required")
    return [file for file in changed.values() if not file.is_deleted]


def in_diff(diff: str) -> list[ChangedFile]:
    """Parse a unified diff, also one of a merge. Raises Invalid if it is not one."""
    files: dict[str, ChangedFile] = {}
    for headers, hunks in _blocks(diff):
        if not (path := _path_in(headers)):
            continue
        is_deleted = "deleted file mode" in headers or headers.get("+++") == NOTHING
        before = files[path].hunks if path in files else ()
        files[path] = ChangedFile(path, () if is_deleted else (*before, *hunks), is_deleted)
    if not files:
        sentence = "diff names no file: send it as `git diff` prints it"
        raise Invalid(sentence, field="diff", error="names no file")
    return list(files.values())


def is_meant(path: str, pattern: str) -> bool:
    """Match as in .gitignore, wherever the repository is. Raises TimeoutError."""
    # Most patterns share no word with the path, which is a hundred times faster to check.
    return _word(pattern) in path.lower() and expressions.finds(_expression(pattern), path)


def _blocks(diff: str) -> Iterator[tuple[dict[str, str], list[Hunk]]]:
    """Yield the headers and the hunks of each file."""
    headers: dict[str, str] = {}
    hunks: list[Hunk] = []
    for sign, line in _lines(diff):
        if sign:
            _add_line(hunks, sign, line)
        elif _HUNK.match(line):
            hunks.append(Hunk())
        elif header := _HEADER.match(line):
            if line.startswith("diff ") or header[1] in headers or hunks:
                yield headers, hunks
                headers, hunks = {}, []
            headers[header[1]] = header[2]
    yield headers, hunks


def _add_line(hunks: list[Hunk], sign: str, line: str) -> None:
    if not hunks:
        hunks.append(Hunk())
    if sign == "+":
        hunks[-1].added.append(line)
    elif sign == "-":
        hunks[-1].removed.append(line)


def _lines(diff: str) -> Iterator[tuple[str, str]]:
    """Yield the sign of each line and its text: +, - or a space in a hunk, else nothing.

    A line of a hunk may look like a header. Its own header has the numbers of lines that follow,
    for each old file (a merge has several) and for the new one; lines have a sign for each old one.
    """
    left: list[int] = []
    width = 1
    for line in diff.replace("\r\n", "\n").split("\n"):
        if head := _HUNK.match(line):
            left = [int(count or 1) for count in _COUNT.findall(head[2])]
            width = len(left) - 1
            yield "", line
            continue
        if line and line[0] not in "+- \\":
            left = []
        is_change = line.startswith(("+", "-")) and not line.startswith(("+++ ", "--- "))
        if is_change or any(count > 0 for count in left):
            signs = line[:width]
            yield "-" if "-" in signs else "+" if "+" in signs else " ", line[width:]
            left = _remaining(left, signs.ljust(width))
        else:
            yield "", line


def _remaining(left: Sequence[int], signs: str) -> list[int]:
    if signs.startswith("\\"):  # the remark that the file does not end in a line break
        return list(left)
    is_removed = "-" in signs
    in_old = [sign == "-" if is_removed else sign != "+" for sign in signs]
    return [count - has for count, has in zip(left, [*in_old, not is_removed], strict=False)]


def _path_in(headers: Mapping[str, str]) -> str:
    """Return the path, or nothing if the headers have none."""
    if not headers.keys() & _FIRST:
        return ""
    for header in _NAMED_ONCE:
        if header in headers:
            return _decoded(headers[header])
    names = headers.get("diff --git", "")  # the only header of a binary or empty file
    half = len(names) // 2
    before, after = _without_prefixes(_decoded(names[:half]), _decoded(names[half + 1 :]))
    if before == after != "":
        return after
    old, new = _decoded(headers.get("---", "")), _decoded(headers.get("+++", ""))
    if not old or old == NOTHING:
        return new.removeprefix("b/")
    return old.removeprefix("a/") if new in ("", NOTHING) else _without_prefixes(old, new)[1]


def _without_prefixes(old: str, new: str) -> tuple[str, str]:
    """Remove the prefixes of git, unless it is set to print none."""
    return (old[2:], new[2:]) if (old[:2], new[:2]) in _PAIRS else (old, new)


def _decoded(printed: str) -> str:
    """Decode a name, since git quotes names with non-ASCII characters."""
    if len(printed) > 1 and printed[0] == printed[-1] == '"':
        raw = _ESCAPED.sub(_byte, printed[1:-1].encode())
        printed = raw.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
    return printed


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

"""Which files a piece of work touches, and which of them a file pattern means."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from contextd.errors import Invalid

_HEADER = re.compile(r"^(?:\+\+\+ |rename to )(?:b/)?([^\t\r\n]+)")
_OLD_HEADER = re.compile(r"^--- (?:a/)?([^\t\r\n]+)")
_GLOB = re.compile(r"\*\*/|\*\*|\*|\?")
_MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
NOTHING = "/dev/null"


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """`added` are the lines that were written, none where only the path is known."""

    path: str
    added: str = ""


def gather(paths: Sequence[str], diff: str) -> list[ChangedFile]:
    """Each file once, those of the diff first."""
    changed = {file.path: file for file in in_diff(diff)} if diff.strip() else {}
    for path in paths:
        changed.setdefault(path.replace("\\", "/"), ChangedFile(path.replace("\\", "/")))
    if not changed:
        raise Invalid("paths or diff is required", field="paths", error="is required")
    return list(changed.values())


def in_diff(diff: str) -> list[ChangedFile]:
    """Raises Invalid where the text is not a unified diff."""
    added: dict[str, list[str]] = {}
    old = path = ""
    for line in diff.splitlines():
        if found := _OLD_HEADER.match(line):
            old = found[1]
        elif found := _HEADER.match(line):
            path = old if found[1] == NOTHING else found[1]
            added.setdefault(path, [])
        elif path and line.startswith("+"):
            added[path].append(line[1:])
    if not added:
        sentence = "diff names no file: send it as `git diff` prints it"
        raise Invalid(sentence, field="diff", error="names no file")
    return [ChangedFile(path, "\n".join(lines)) for path, lines in added.items()]


def is_meant(path: str, pattern: str) -> bool:
    """As in .gitignore: a pattern without a slash means a name in any folder."""
    return _expression(pattern).fullmatch(path) is not None


@lru_cache(maxsize=2000)
def _expression(pattern: str) -> re.Pattern[str]:
    anywhere = pattern if "/" in pattern else f"**/{pattern}"
    parts = re.split(f"({_GLOB.pattern})", anywhere)
    translated = "".join(_MEANINGS.get(part, re.escape(part)) for part in parts)
    return re.compile(translated, re.IGNORECASE)

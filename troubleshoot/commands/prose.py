"""Finds the commands that a text recommends, in code and between its words."""

import re
from collections.abc import Iterator
from itertools import chain, islice

from troubleshoot.commands import judging, programs, shell, windows

MAX_COMMANDS, MAX_COMMAND_LENGTH = 300, 500
"""Limits of a text, and of a command that stands between words."""

# In prose these are words of their own more often than commands.
_WORDS = {"reboot", "halt", "shutdown", "poweroff"}
_NOUNS = {
    "console", "django", "erase", "flux", "fly", "format", "go", "http", "https", "init", "kind",
    "mix", "node", "ri", "vault",
}  # fmt: skip
_CLIENTS = {"curl", "wget", "xargs", "ssh", "npx", "yarn", "pnpm", "bash", "sh", "pwsh"}
_NAMES = {
    *(programs.RULES.keys() | windows.RULES.keys()) - _WORDS - _NOUNS,
    *("Clear-Content", "Remove-Item", "Stop-Process", "Stop-Computer", "Restart-Computer"),
    *programs.SQL_CLIENTS,
    *_CLIENTS,
}


def _either(names: set[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


# Behind an article a program's name is a noun, before such a word the subject of a sentence.
_NO_NOUN = r"(?<!\b[Tt]he )(?<!\b[Aa] )(?<!\b[Aa]n )"
_NO_SUBJECT = (
    r"(?! +(?:is|was|are|were|be|has|had|can|could|will|would|should|must|may|does|did|not|with|on"
    r"|in|of|from|for|to|or|command|process|option|failed|fails)\b)"
)
_COMMAND = re.compile(
    rf"(?<![\w./$~-]){_NO_NOUN}(?:sudo +(?:{_either(_WORDS)})\b"
    rf"|(?:sudo +)?(?:[\w.~-]*/){{0,8}}(?:{_either(_NAMES)}|python[\d.]*|mkfs(?:\.\w+)?)"
    rf"(?= +\S){_NO_SUBJECT})"
)
_STATEMENT = re.compile(rf"(?<!\w){_NO_NOUN}(?:DROP|TRUNCATE|DELETE +FROM|ALTER +TABLE)(?= )")
# What is quoted is passed over; a dot or a bracket that stands alone belongs to the command.
_SENTENCE_END = re.compile(
    r"""(?<=[\s=])'[^'\n]*'|(?<=[\s=])"[^"\n]*"|(?P<end>(?<=[^\s\\])[.,:!?)](?:\s|$)|;|\u2014"""
    r"""|(?<=\s)\(|\s(?:[-\u2013]|and|or|then)\s|\n)"""
)
# A command directly behind these words is one not to run. In "if the tests do not run" it is not
# a warning, so that "do not" has to begin a clause.
_WARNING = re.compile(
    r"(?:\b[Nn]ever|(?:(?:^|[^\w\s])\s*|\n|\b(?:please|and|but|so|you) +)[Dd]o(?:n't| +not)"
    r"|\b[Aa]void|\b[Ii]nstead of|\b[Rr]ather than|\b[Ww]ithout|\becho|\bprintf)"
    r"(?: +(?:run|running|use|using|execute|executing|call|calling|ever|do|doing|a|an|the)){0,3}"
    r" +[\"'`]?$"
)
_WARNING_BEFORE = 60
_NOT_NEEDED = re.compile(
    r"(?:\S+ +){1,4}(?:is|was|would be) +(?:not|never|no longer|unnecessary|dangerous|wrong)\b"
)
_FENCE = re.compile(r" *(```+|~~~+)")
_INLINE = re.compile(r"`([^`\n]+)`")


def dangers_in_prose(text: str) -> tuple[str, ...]:
    """Return what its commands would destroy, except those that it warns of."""
    code, prose = _parted(text[: shell.MAX_LENGTH])
    inline = (match[1] for match in _INLINE.finditer(prose) if not _is_warned_of(prose, match))
    between = _recommended(_INLINE.sub(" ", prose))
    parts = islice(dict.fromkeys(chain(code, inline, between)), MAX_COMMANDS)
    return tuple(dict.fromkeys(what for part in parts for what in judging.dangers(part)))


def _parted(text: str) -> tuple[list[str], str]:
    """Return the code of each fence, and the rest of the text."""
    code: list[str] = []
    prose: list[str] = []
    block: list[str] = []
    fence = ""
    for line in text.splitlines():
        found = _FENCE.match(line)
        if not fence and found:
            fence, block = found[1], []
        elif fence and found and found[1].startswith(fence):
            fence = ""
            code.append("\n".join(block))
        else:
            (block if fence else prose).append(line)
    if fence:  # it is never closed
        code.append("\n".join(block))
    return code, "\n".join(prose)


def _recommended(prose: str) -> Iterator[str]:
    """Yield commands from the name of the program to the end of the sentence."""
    for pattern in (_COMMAND, _STATEMENT):
        for match in islice(pattern.finditer(prose), MAX_COMMANDS):
            command = _to_its_end(prose[match.start() : match.start() + MAX_COMMAND_LENGTH])
            if not _is_warned_of(prose, match) and not _NOT_NEEDED.match(command):
                yield command


def _is_warned_of(prose: str, match: re.Match[str]) -> bool:
    before = prose[max(0, match.start() - _WARNING_BEFORE) : match.start()]
    return bool(_WARNING.search(before))


def _to_its_end(text: str) -> str:
    ends = (found.start() for found in _SENTENCE_END.finditer(text) if found["end"] is not None)
    return text[: next(ends, len(text))]

"""Finds the commands that a text recommends, in code and between its words."""

import re
from collections.abc import Iterator
from itertools import chain, islice

from troubleshoot.commands import judging, programs, shell

MAX_COMMANDS, MAX_COMMAND_LENGTH = 300, 500
"""So many commands of a text are judged, and between words so many characters of each."""

# In prose these are words of their own more often than commands.
_WORDS = {"reboot", "halt", "shutdown", "poweroff"}
_NOUNS = {"flux", "fly", "go", "http", "https", "kind", "node", "vault"}
_CLIENTS = {"curl", "wget", "xargs", "ssh", "npx", "yarn", "pnpm", "bash", "sh", "pwsh"}
_NAMES = {
    *programs.RULES.keys() - _WORDS - _NOUNS,
    *programs.ON_WINDOWS.keys() - {"erase", "format"},
    *("Remove-Item", "Stop-Process", "Stop-Computer", "Restart-Computer"),
    *judging.SQL_CLIENTS,
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
# A command behind these words is one not to run.
_WARNING = re.compile(
    r"(?:\b[Nn]ever|\b[Dd]o(?:es)? not|\b[Dd]on't|\b[Aa]void|\b[Ii]nstead of|\b[Rr]ather than"
    r"|\b[Ww]ithout|\becho|\bprintf)(?: +(?!forget|hesitate|fail|worry|only|just)[\w'-]+){0,3}"
    r" +[\"'`]?$"
)
_WARNING_BEFORE = 60
_NOT_NEEDED = re.compile(
    r"(?:\S+ +){1,4}(?:is|was|would be) +(?:not|never|no longer|unnecessary|dangerous|wrong)\b"
)
_FENCE = re.compile(r" *(```+|~~~+)")
_INLINE = re.compile(r"`([^`\n]+)`")


def dangers_in_prose(text: str) -> tuple[str, ...]:
    """Say what the commands in it would destroy, but for those that it warns of."""
    code, prose = _parted(text[: shell.MAX_LENGTH])
    inline = (match[1] for match in _INLINE.finditer(prose) if not _is_warned_of(prose, match))
    between = _recommended(_INLINE.sub(" ", prose))
    parts = islice(dict.fromkeys(chain(code, inline, between)), MAX_COMMANDS)
    return tuple(dict.fromkeys(what for part in parts for what in judging.dangers(part)))


def _parted(text: str) -> tuple[list[str], str]:
    """What stands in fences, each of them in one piece, and all the rest."""
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
    """Yield what stands from a program's name to the end of its sentence."""
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

"""Finds the commands that a text recommends, in code and between its words."""

import re
from collections.abc import Iterator
from itertools import chain, islice

from troubleshoot.commands import judging, programs, shell, sql, windows

MAX_COMMANDS, MAX_VERBS = 300, 50
"""Limits of the commands of a text, and of its words that may begin an SQL statement."""

MAX_COMMAND_LENGTH, MAX_BEFORE = 500, 60
"""Limits of a command that stands between words, and of the words before it."""

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


_COMMAND = re.compile(
    rf"(?<![\w./$~-])(?<!\bgit )(?<!npm )(?:sudo +(?:{_either(_WORDS)})\b"
    rf"|(?:sudo +)?(?:[\w.~-]*/){{0,8}}(?P<program>{_either(_NAMES)}|python[\d.]*|mkfs(?:\.\w+)?)"
    rf"(?= +\S))"
)
_STATEMENT = re.compile(
    r"(?<!\w)(?:DROP|TRUNCATE|DELETE +FROM|ALTER +TABLE|UPDATE(?= +\S+ +SET ))(?= )"
)
# What is quoted is passed over; a dot or a bracket that stands alone belongs to the command.
_END = re.compile(
    r"""(?<=[\s=])'[^'\n]*'|(?<=[\s=])"[^"\n]*"|(?P<end>(?<=[^\s\\])[.,:!?)](?:\s|$)|;|\u2014"""
    r"""|(?<=\s)\(|\s(?:[-\u2013]|and|or|then)\s|\n"""
    # No command has these words, nor one that ends in -ed.
    r"|\s(?=(?:[a-z]+ed|are|be|because|by|can|could|did|for|from|had|in|may|must|not|of|on|should|since"
    r"|that|to|were|when|will|with|would|command|flag|option|process)(?:[\s.,:;!?)]|$)))"
)
# Before a verb in -s it is the subject of a sentence: `rsync supports --delete`, `git push rejects
# --force`.
_VERB = r"(?=[a-z]{0,20}[aeiouy])[a-z]{0,20}[a-rt-z]s"
_SUBJECT = re.compile(
    r"(?:sudo +)?\S+(?: +(?:version +)?v?\d+(?:\.\d+)+)?"
    rf"(?:(?= +{_VERB} +(?!and |or |then )[\w-])| +[a-z]+(?= +{_VERB} +-))"
)
# A command directly behind these words is one not to run, or that ran by itself. In "if the tests
# do not run" it is not a warning, so that "do not" has to begin a clause.
_WARNING = re.compile(
    r"(?:\b[Nn]ever|(?:(?:^|[^\w\s])\s*|\n|\b(?:please|and|but|so|you) +)[Dd]o(?:n't| +not)"
    r"|\b[Aa]void|\b[Ii]nstead of|\b[Rr]ather than|\b(?P<without>[Ww]ithout)|\becho|\bprintf"
    r"|\b(?:job|script|hook|timer) +ran)"
    r"(?: +(?:run|running|use|using|execute|executing|call|calling|ever|do|doing|a|an|the)){0,3}"
    r" +[\"'`]?$"
)
_NEGATION = re.compile(r"n't\b|\b(?:cannot|no|nobody|none|not|nothing|never)\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[.,;:!?\n]")
_ARTICLE = re.compile(r"\b[Tt]he $")
# In small letters a statement is one if it begins a clause or ends in `;`, and is one as a whole.
_STATEMENT_VERB = re.compile(
    r"(?<![\w.-])(?:drop|truncate|delete|alter|update)(?= )", re.IGNORECASE
)
_CLAUSE_BEGINS = re.compile(r"(?:^|[^\w\s]|\n|\b(?:ran|run|running|execut(?:e|ed|ing)))[ \t]*$")
_QUOTE = re.compile('["\u201d]')
_NOT_NEEDED = re.compile(
    r"(?:(?:\S*[^\s.,;:!?]|\.) +){1,4}(?:is|was|would be) +(?:not|never|no longer|unnecessary"
    r"|dangerous|wrong|refused|rejected)\b"
    r"|kill +-\w+ +by +the\b"
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
    """Yield its commands and SQL statements, each to its end."""
    for match in islice(_COMMAND.finditer(prose), MAX_COMMANDS):
        command = _to_its_end(_from(prose, match))
        if match["program"] not in programs.NESTED and (subject := _SUBJECT.match(command)):
            command = subject[0]
        if " " in command and not _is_noun(prose, match, command) and not _is_refused(prose, match):
            yield command
    for match in islice(_STATEMENT.finditer(prose), MAX_COMMANDS):
        if not _is_refused(prose, match):
            yield _to_its_end(_from(prose, match))
    for match in islice(_STATEMENT_VERB.finditer(prose), MAX_VERBS):
        if not _is_refused(prose, match):
            yield from islice(filter(sql.is_whole, _statements(prose, match)), 1)


def _from(prose: str, match: re.Match[str]) -> str:
    return prose[match.start() : match.start() + MAX_COMMAND_LENGTH]


def _before(prose: str, match: re.Match[str]) -> str:
    return prose[max(0, match.start() - MAX_BEFORE) : match.start()]


def _to_its_end(text: str) -> str:
    ends = (found.start() for found in _END.finditer(text) if found["end"] is not None)
    return text[: next(ends, len(text))]


def _statements(prose: str, match: re.Match[str]) -> Iterator[str]:
    """Yield what may be a statement: to `;`, and where it begins a clause, to other ends."""
    text = _from(prose, match).partition("\n\n")[0]
    statement, end, _ = text.partition(";")
    if end:
        yield statement + end
    if _CLAUSE_BEGINS.search(_before(prose, match)):
        line = text.partition("\n")[0]
        yield from (line.rstrip(" .,:!)"), _to_its_end(line), _QUOTE.split(line)[0])


def _is_noun(prose: str, match: re.Match[str], command: str) -> bool:
    """Whether only the program is meant, as in `the rm command`, unlike in `the rm -rf trick`."""
    return bool(_ARTICLE.search(_before(prose, match))) and " -" not in command


def _is_refused(prose: str, match: re.Match[str]) -> bool:
    return _is_warned_of(prose, match) or bool(_NOT_NEEDED.match(_from(prose, match)))


def _is_warned_of(prose: str, match: re.Match[str]) -> bool:
    before = _before(prose, match)
    warning = _WARNING.search(before)
    if warning and warning["without"]:  # "nothing works without it" recommends it
        return not _NEGATION.search(_CLAUSE_END.split(before[: warning.start()])[-1])
    return bool(warning)

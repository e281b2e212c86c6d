"""Python: tracebacks, chained and grouped, and what pytest and notebooks make of them."""

import re
from collections.abc import Iterator
from itertools import islice

from contextd.faults.grammar import (
    LINE,
    MESSAGE,
    TYPE,
    Block,
    Grammar,
    Relation,
    block_of,
    compiled,
    find_all,
    frame_of,
    stacks_of,
)
from contextd.faults.tools import LAST_WORDS

_HEADLINE = re.compile(rf"[ |]*(?P<type>[A-Za-z_][\w.]*)(?:: ?{MESSAGE}|$)", re.MULTILINE)
_WRAPS = re.compile(r"direct cause of the following exception|During handling of the above")
_MEMBER = re.compile(r"^[ |]*\+-+(?:\+-+)? \d+ -+$", re.MULTILINE)
_MESSAGE_LINES = 6
# What may stand right behind a traceback without being its message.
_BESIDE = compiled(
    r"Traceback \(most|File \"|\+-|[=_-]{3}|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL"
    r"|FATAL|FAILED)\b|[^\n]*\b(?:Error|Exception): ",
    *LAST_WORDS["make"],
    *LAST_WORDS["shell"],
)
_SECTION = re.compile(r"^(?:_{3,} .* _{3,}|=+ short test summary.*)$", re.MULTILINE)
_LIBRARY = re.compile(
    r"site-packages|dist-packages|<frozen |<string>$|[/\\]lib[/\\]python\d|[/\\]Python\d+[/\\]Lib"
)


def read_tracebacks(grammar: Grammar, text: str) -> list[Block]:
    blocks: list[Block] = []
    end = 0
    for calls in stacks_of(grammar, text):
        blocks += _bare_members(text, end, calls[0].start())
        headline = _HEADLINE.match(text, calls[-1].end() + 1)
        block = _headline_block(headline) if headline else Block("", "", "")
        block.frames = [frame_of(call) for call in reversed(calls)]
        block.relation = _relation(text[end : calls[0].start()])
        blocks.append(block)
        end = headline.end() if headline else calls[-1].end()
    return blocks + _bare_members(text, end, len(text)) if blocks else blocks


def _bare_members(text: str, start: int, end: int) -> list[Block]:
    """Return the errors of a group that were never raised, and so have no traceback."""
    headlines = (
        _HEADLINE.match(text, mark.end() + 1) for mark in _MEMBER.finditer(text, start, end)
    )
    blocks = [_headline_block(headline) for headline in headlines if headline]
    for block in blocks:
        block.relation = Relation.CAUSE
    return blocks


def _headline_block(headline: re.Match[str]) -> Block:
    """Return the error with the rest of its message."""
    block = block_of(headline)
    if headline["message"] is not None:
        block.continue_message(_message_lines(headline))
    return block


def _message_lines(headline: re.Match[str]) -> list[str]:
    """Return the lines up to an empty one, a less indented one, or one that is not the error's."""
    indentation = headline.string[headline.start() : headline.start("type")]
    lines: list[str] = []
    for line in islice(_lines(headline.string, headline.end() + 1), 2 * _MESSAGE_LINES):
        content = line.removeprefix(indentation).strip()
        if not content and not headline["message"] and not lines:
            continue
        if not content or not line.startswith(indentation) or _is_beside(content):
            break
        lines.append(content)
    return lines[:_MESSAGE_LINES]


def _lines(text: str, start: int) -> Iterator[str]:
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


def _is_beside(line: str) -> bool:
    return any(pattern.match(line) for pattern in _BESIDE)


def read_first(grammar: Grammar, text: str) -> list[Block]:
    """Return the first error, where frames stand above and below the line that reports it."""
    headline = next(iter(find_all(grammar.vague_headlines, text)), None)
    if headline is None:
        return []
    section_end = _SECTION.search(text, headline.end())
    failure = text[: section_end.start() if section_end else len(text)]
    calls = find_all(grammar.frames, failure)
    block = block_of(headline)
    block.error_type = block.error_type or _type_among(calls)
    block.frames = [frame_of(call) for call in reversed(calls)]
    return [block]


def _type_among(calls: list[re.Match[str]]) -> str:
    return next((kind for call in calls if (kind := call.groupdict().get("type"))), "")


def _relation(between: str) -> Relation:
    if _WRAPS.search(between):
        return Relation.WRAPPER
    return Relation.CAUSE if _MEMBER.search(between) else Relation.NONE


PYTHON = Grammar(
    language="python",
    hints=('File "',),
    vague_headlines=(_HEADLINE,),
    frames=compiled(
        rf"^(?P<indent>[ |+]*)File \"(?P<file>[^\"\n]*)\", line {LINE}"
        r"(?:, in (?P<function>[^\n]+))?"
        r"(?:\n(?P=indent) [^\n]*|\n(?P=indent)\[Previous line repeated[^\n]*)*"
    ),
    library=_LIBRARY,
    outermost_first=True,
    read=read_tracebacks,
)
CRASH = Grammar(  # of the interpreter itself
    language="python",
    hints=("Fatal Python error: ",),
    headlines=compiled(rf"^(?P<type>Fatal Python error): {MESSAGE}"),
    frames=compiled(rf"^ *File \"(?P<file>[^\"\n]*)\", line {LINE} in (?P<function>[^\n]+)"),
    library=_LIBRARY,
)
PYTEST = Grammar(
    language="python",
    hints=("E  ",),
    vague_headlines=compiled(rf"^E +{TYPE}(?:: ?{MESSAGE}|$)", r"^E +(?P<message>\S[^\n]*)"),
    frames=compiled(
        rf"^(?P<file>[^\s:][^\n:]*\.py):{LINE}:(?: in (?P<function>[^\n]+)| (?P<type>[A-Z]\w+))?$"
    ),
    library=_LIBRARY,
    outermost_first=True,
    read=read_first,
)
NOTEBOOK = Grammar(
    language="python",
    hints=("Traceback (most recent call last)\n",),
    vague_headlines=compiled(rf"^{TYPE}: {MESSAGE}"),
    frames=compiled(
        rf"^File (?P<file>[^\n:]+):{LINE}, in (?P<function>[^\n(]+)[^\n]*",
        rf"^(?P<file>Cell In\[\d+\]), line {LINE}$",
    ),
    library=_LIBRARY,
    outermost_first=True,
    read=read_first,
)

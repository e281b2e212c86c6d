"""Python: tracebacks, chained and grouped, and what pytest and notebooks make of them."""

import re

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

_HEADLINE = re.compile(rf"[ |]*(?P<type>[A-Za-z_][\w.]*)(?:: ?{MESSAGE}|$)", re.MULTILINE)
_WRAPS = re.compile(r"direct cause of the following exception|During handling of the above")
_MEMBER = re.compile(r"^[ |]*\+-+(?:\+-+)? \d+ -+$", re.MULTILINE)
_SECTION = re.compile(r"^(?:_{3,} .* _{3,}|=+ short test summary.*)$", re.MULTILINE)
_LIBRARY = re.compile(
    r"site-packages|dist-packages|<frozen |<string>$|[/\\]lib[/\\]python\d|[/\\]Python\d+[/\\]Lib"
)


def read_tracebacks(grammar: Grammar, text: str) -> list[Block]:
    blocks, end = [], 0
    for calls in stacks_of(grammar, text):
        headline = _HEADLINE.match(text, calls[-1].end() + 1)
        block = block_of(headline) if headline else Block("", "", "")
        block.frames = [frame_of(call) for call in reversed(calls)]
        block.relation = _relation(text[end : calls[0].start()])
        blocks.append(block)
        end = headline.end() if headline else calls[-1].end()
    return blocks


def read_first(grammar: Grammar, text: str) -> list[Block]:
    """The first error, where frames stand above and below the line that tells it."""
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

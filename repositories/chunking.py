"""Split a file along its structure: definitions, sections, statements."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from repositories import definitions, grammar, headings
from repositories.grammar import Definition, Outline

ROOM = 900
"""Characters per chunk; the model reads 256 tokens of about four characters of code each."""

MAX_SYMBOLS = 20_000
MAX_TOGETHER = 6
COMPONENTS = frozenset({"astro", "svelte", "vue"})
_FENCED = re.compile(r"\s*---[^\S\n]*\n")
"""Begins the code of an Astro component, which ends at the next line of dashes."""
_SCRIPT = re.compile(r"<script\b", re.IGNORECASE)
_END_OF_SCRIPT = re.compile(r"</script\s*>", re.IGNORECASE)
_NOT_A_BREAK = re.compile(r"[^\n]")
_ABOVE = re.compile(r"\s*(?://|#|/\*|\*|--|;|%|@|<!--)")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Lines of a file, counted from 1, and the names they define."""

    first_line: int
    last_line: int
    text: str
    symbols: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CutFile:
    """The chunks of a file, and all names it defines unless its code was too hard to read."""

    chunks: list[Chunk]
    symbols: list[str]
    is_complete: bool = True


def cut(text: str, language: str) -> CutFile:
    """Put each non-blank line into one chunk; text without structure gives a single chunk."""
    lines = text.split("\n")
    code = _code_of(text, language)
    headed = headings.outline(lines, language) if language in headings.LANGUAGES else None
    outlined = headed if headed and (headed.whole.children or code is None) else code
    if outlined is None:
        return CutFile([Chunk(1, len(lines), text, ())], [])
    units = [*_packed(Chunker(lines, outlined).units())]
    chunks = [
        Chunk(unit.first + 1, unit.last + 1, _joined(lines, unit), unit.symbols) for unit in units
    ]
    names = list(dict.fromkeys((*code.whole.names(), *code.variables))) if code else []
    return CutFile(chunks, names[:MAX_SYMBOLS], code is None or code.is_complete)


def _code_of(text: str, language: str) -> Outline | None:
    if language in COMPONENTS:
        return grammar.outline(_scripts_of(text), "typescript")
    return grammar.outline(text, language) if language in definitions.LANGUAGES else None


def _scripts_of(text: str) -> str:
    """Return the text with everything outside of its scripts blank, so that lines stay."""
    blank = _NOT_A_BREAK.sub(" ", text)
    pieces, position = [], 0
    for first, last in _places_of_scripts(text):
        pieces += [blank[position:first], text[first:last]]
        position = last
    return "".join([*pieces, blank[position:]])


def _places_of_scripts(text: str) -> Iterator[tuple[int, int]]:
    """Yield where scripts begin and end; nothing is searched twice, even if one has no end."""
    position = 0
    if fenced := _FENCED.match(text):
        position = text.find("\n---", fenced.end())
        if position < 0:
            return
        yield fenced.end(), position
    while script := _SCRIPT.search(text, position):
        first = text.find(">", script.end()) + 1
        end = _END_OF_SCRIPT.search(text, first) if first else None
        if end is None:
            return
        yield first, end.start()
        position = end.end()


def _joined(lines: Sequence[str], unit: "Unit") -> str:
    return "\n".join(lines[unit.first : unit.last + 1])


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines that belong together; units of one `scope` may share a chunk, except None."""

    first: int
    last: int
    size: int
    symbols: tuple[str, ...]
    scope: str | None


class Chunker:
    """Splits the lines of an outline into units."""

    def __init__(self, lines: Sequence[str], outlined: Outline) -> None:
        self._lines, self._outlined = lines, outlined
        self._before = [0, *accumulate(len(line) + 1 for line in lines)]

    def units(self) -> Iterator[Unit]:
        whole = self._outlined.whole
        yield from self._inside(whole, 0, len(self._lines) - 1)

    def _inside(self, owner: Definition, first: int, last: int) -> Iterator[Unit]:
        """Yield the definition's own lines and its children."""
        own = (owner.name,) if owner.name else ()
        at = first
        for child in owner.children:
            starts = self._with_comments(child.first, at)
            if starts > at:
                yield from self._lines_of(at, starts - 1, own, owner.name)
            if child.last >= starts:
                yield from self._whole(child, starts, min(child.last, last), owner.name)
            at = max(at, child.last + 1)
        if at <= last:
            yield from self._lines_of(at, last, own, owner.name)

    def _whole(self, child: Definition, first: int, last: int, scope: str) -> Iterator[Unit]:
        if child.children and self._size(first, last) > ROOM:
            yield from self._inside(child, first, last)
        else:
            yield from self._lines_of(first, last, tuple(child.names()), scope)

    def _with_comments(self, first: int, lowest: int) -> int:
        """Return the first line, including comments and decorators directly above."""
        while first > lowest and _ABOVE.match(self._lines[first - 1]):
            first -= 1
        return max(first, lowest)

    def _lines_of(
        self, first: int, last: int, symbols: tuple[str, ...], scope: str
    ) -> Iterator[Unit]:
        if self._size(first, last) <= ROOM:
            yield from self._unit(first, last, symbols, scope)
            return
        while first <= last:
            end = self._border(first, last)
            yield from self._unit(first, end, symbols, None)
            first = end + 1

    def _unit(
        self, first: int, last: int, symbols: tuple[str, ...], scope: str | None
    ) -> Iterator[Unit]:
        while first <= last and not self._lines[first].strip():
            first += 1
        while first <= last and not self._lines[last].strip():
            last -= 1
        if first <= last:
            yield Unit(first, last, self._size(first, last), symbols, scope)

    def _border(self, first: int, last: int) -> int:
        """Return the last line that fits, before the outermost statement of the second half."""
        end = first
        while end < last and self._size(first, end + 1) <= ROOM:
            end += 1
        if end == last:
            return last
        starts = self._outlined.starts
        borders = [n for n in range(first + (end - first) // 2 + 1, end + 2) if n in starts]
        return min(borders, key=lambda n: (starts[n], -n)) - 1 if borders else end

    def _size(self, first: int, last: int) -> int:
        return self._before[last + 1] - self._before[first]


def _packed(units: Iterator[Unit]) -> Iterator[Unit]:
    """Merge small adjacent units, so that each passage has enough content."""
    current: Unit | None = None
    for unit in units:
        if current and current.scope is not None and _fit(current, unit):
            current = replace(
                current,
                last=unit.last,
                size=current.size + unit.size,
                symbols=tuple(dict.fromkeys((*current.symbols, *unit.symbols))),
            )
            continue
        if current:
            yield current
        current = unit
    if current:
        yield current


def _fit(one: Unit, other: Unit) -> bool:
    together = len(one.symbols) + len(other.symbols) <= MAX_TOGETHER
    return one.scope == other.scope and together and one.size + other.size <= ROOM

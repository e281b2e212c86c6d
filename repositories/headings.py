"""Outline texts with headings, such as Markdown."""

import re
from collections.abc import Iterator, Sequence

from repositories.grammar import MAX_NAME_CHARACTERS, MAX_NESTED, Definition, Outline

MAX_PATH_CHARACTERS = 1000
"""Of a heading behind those above it, since each heading below repeats them."""

# Markdown, as CommonMark defines it
_MARK = re.compile(r" {0,3}(#{1,6})\s+")
_UNDERLINED = re.compile(r" {0,3}([=-])\1*\s*$")
_FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")
_TITLE = re.compile(r"(?![>|<]|[-+*]\s|\d+[.)]\s|[-*_=]+\s*$|`{3}|~{3})\S")
"""Matches the first line of a paragraph, not of a list, quote, table or HTML block."""
_BORDERS = (re.compile(r"\s*$"), _MARK, _UNDERLINED, _FENCE)
_FRONT_MATTER = {"---": ("---", "..."), "+++": ("+++",)}
"""The lines that end metadata, by the first line of the text."""

_UNDERLINE = re.compile(r"([=\-~^\"'#*+`:.])\1{2,}\s*$")

# The first group tells the level, by its length or its place among the names.
_SECTIONS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
_OTHERS = {
    "latex": re.compile(rf"\s*\\({'|'.join(_SECTIONS)})\*?(?:\[[^\]]*\])?\{{([^}}]+)\}}"),
    "org": re.compile(r"(\*+)\s+(.+)"),
    "typst": re.compile(r"(=+)\s+(.+)"),
}
LANGUAGES = frozenset({"markdown", "rst", *_OTHERS})

Heading = tuple[int, int, str]
"""Line, level and text of a heading."""


def outline(lines: Sequence[str], language: str) -> Outline:
    headings = [*_headings(lines, language)]
    whole = Definition("", 0, len(lines) - 1)
    opened: list[tuple[int, Definition]] = [(0, whole)]
    for line, level, words in headings:
        while opened[-1][0] >= level:
            opened.pop()[1].last = line - 1
        owner = opened[-1][1]
        words = words[:MAX_NAME_CHARACTERS]
        name = f"{owner.name} > {words}" if owner.name else words
        section = Definition(name[-MAX_PATH_CHARACTERS:], line, len(lines) - 1)
        owner.children.append(section)
        opened.append((level, section))
    paragraphs = {n + 1: 1 for n, line in enumerate(lines) if not line.strip()}
    return Outline(whole, paragraphs)


def _headings(lines: Sequence[str], language: str) -> Iterator[Heading]:
    if language == "markdown":
        return _of_markdown(lines)
    return _of_rst(lines) if language == "rst" else _of_other(lines, language)


def _of_other(lines: Sequence[str], language: str) -> Iterator[Heading]:
    for number, line in enumerate(lines):
        if (found := _OTHERS[language].match(line)) and (words := found[2].strip()):
            mark = found[1]
            level = _SECTIONS.index(mark) + 1 if mark in _SECTIONS else len(mark)
            yield number, min(level, MAX_NESTED), words


def _of_markdown(lines: Sequence[str]) -> Iterator[Heading]:
    """Yield headings outside of metadata and fenced code."""
    fence = ""
    for number in range(_start_of_content(lines), len(lines)):
        line = lines[number]
        if fence:
            fence = "" if _closes(line, fence) else fence
        elif mark := _FENCE.match(line):
            fence = mark[1]
        elif (found := _MARK.match(line)) and (words := _without_marks(line[found.end() :])):
            yield number, len(found[1]), words
        elif (found := _UNDERLINED.match(line)) and _is_title(lines, number - 1):
            yield number - 1, "=-".index(found[1]) + 1, lines[number - 1].strip()


def _without_marks(words: str) -> str:
    """Remove the marks that may also end a heading, which stand behind a space."""
    words = words.strip()
    unmarked = words.rstrip("#")
    return unmarked.rstrip() if unmarked[-1:].isspace() else words


def _start_of_content(lines: Sequence[str]) -> int:
    """Return the number of the first line after the metadata, if there is any."""
    if not any(line.strip() for line in lines[1:2]):  # a line across the page, not metadata
        return 0
    ends = _FRONT_MATTER.get(lines[0].rstrip(), ())
    return next((n + 1 for n in range(1, len(lines)) if lines[n].rstrip() in ends), 0)


def _closes(line: str, fence: str) -> bool:
    mark = line.strip()
    return mark.startswith(fence) and not mark.strip(fence[0])


def _is_title(lines: Sequence[str], number: int) -> bool:
    """Return whether the line may be a title: the first line of a paragraph."""
    if number < 0 or not _TITLE.match(lines[number]):
        return False
    return number == 0 or any(pattern.match(lines[number - 1]) for pattern in _BORDERS)


def _of_rst(lines: Sequence[str]) -> Iterator[Heading]:
    """Yield headings; levels follow the order in which their marks first occur."""
    marks: list[str] = []
    for number in range(len(lines) - 1):
        title, below = lines[number], lines[number + 1]
        mark = _UNDERLINE.match(below)
        if mark and title[:1].strip() and len(below.rstrip()) >= len(title.rstrip()):
            if mark[1] not in marks:
                marks.append(mark[1])
            yield number, marks.index(mark[1]) + 1, title.strip()

"""Outline texts with headings: Markdown and reStructuredText."""

import re
from collections.abc import Iterator, Sequence

from repositories.grammar import Definition, Outline

_MARKDOWN = re.compile(r"(#{1,6})\s+(.+?)(?:\s+#+)?\s*$")
_FENCE = re.compile(r"\s*(```|~~~)")
_UNDERLINE = re.compile(r"([=\-~^\"'#*+`:.])\1{2,}\s*$")

Heading = tuple[int, int, str]
"""Line, level and text of a heading."""


def outline(lines: Sequence[str], language: str) -> Outline:
    headings = [*(_of_markdown(lines) if language == "markdown" else _of_rst(lines))]
    whole = Definition("", 0, len(lines) - 1)
    opened: list[tuple[int, Definition]] = [(0, whole)]
    for line, level, words in headings:
        while opened[-1][0] >= level:
            opened.pop()[1].last = line - 1
        owner = opened[-1][1]
        name = f"{owner.name} > {words}" if owner.name else words
        section = Definition(name, line, len(lines) - 1)
        owner.children.append(section)
        opened.append((level, section))
    paragraphs = {n + 1: 1 for n, line in enumerate(lines) if not line.strip()}
    return Outline(whole, paragraphs)


def _of_markdown(lines: Sequence[str]) -> Iterator[Heading]:
    fence = ""
    for number, line in enumerate(lines):
        if mark := _FENCE.match(line):
            fence = "" if mark[1] == fence else fence or mark[1]
        elif not fence and (found := _MARKDOWN.match(line)):
            yield number, len(found[1]), found[2]


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

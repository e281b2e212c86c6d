"""Render skills for people: Markdown as safe HTML, and versions side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

from skills import documents
from skills.packages import Package

LINES_AROUND = 3
TAGS = nh3.ALLOWED_TAGS - {"img"}
"""Excludes images, which would reveal readers to foreign servers."""

_markdown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@dataclass(frozen=True, slots=True)
class Row:
    """A line before and after; `kind` is equal, replace, delete, insert, or gap for lines left out.

    Numbers count from 1, and are None if there is no such line.
    """

    kind: str
    former_number: int | None = None
    former: str | None = None
    latter_number: int | None = None
    latter: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A line diff of two SKILL.md, and which other files were added, removed or changed."""

    rows: list[Row]
    files: list[str]


def as_html(markdown: str) -> SafeString:
    """Render Markdown as HTML free of scripts, styles and foreign frames."""
    return mark_safe(nh3.clean(_markdown.render(markdown), tags=TAGS))  # noqa: S308  # cleaned


def compare(former: Package, latter: Package) -> Comparison:
    before, after = (
        package.raw_document.decode(errors="replace").splitlines() for package in (former, latter)
    )
    return Comparison(list(_side_by_side(before, after)), _changed_files(former, latter))


def _side_by_side(before: Sequence[str], after: Sequence[str]) -> Iterator[Row]:
    """Compare line by line; a comparison by words, as in `HtmlDiff`, can take minutes."""
    matcher = SequenceMatcher(None, before, after)
    for number, group in enumerate(matcher.get_grouped_opcodes(LINES_AROUND)):
        if number:
            yield Row("gap")
        for kind, start, end, start_after, end_after in group:
            yield from _rows(
                kind,
                list(enumerate(before, 1))[start:end],
                list(enumerate(after, 1))[start_after:end_after],
            )


def _rows(
    kind: str, former: Sequence[tuple[int, str]], latter: Sequence[tuple[int, str]]
) -> Iterator[Row]:
    for one, other in zip_longest(former, latter, fillvalue=(None, None)):
        yield Row(kind, *one, *other)


def _changed_files(former: Package, latter: Package) -> list[str]:
    before, after = (
        {file.path: file.identity for file in package.files if file.path != documents.NAME}
        for package in (former, latter)
    )
    return [
        *(f"{path} is new" for path in sorted(after.keys() - before.keys())),
        *(f"{path} is gone" for path in sorted(before.keys() - after.keys())),
        *(
            f"{path} has changed"
            for path in sorted(before.keys() & after.keys())
            if before[path] != after[path]
        ),
    ]

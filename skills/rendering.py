"""Skills for the eyes of people: Markdown as HTML that is safe, and versions side by side."""

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
"""A picture from elsewhere would tell its server who reads."""

_markdown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@dataclass(frozen=True, slots=True)
class Row:
    """A line before and after; `kind` is equal, replace, delete, insert, or gap for lines left out.

    Numbers count from 1; where there is no such line, it is None.
    """

    kind: str
    former_number: int | None = None
    former: str | None = None
    latter_number: int | None = None
    latter: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The SKILL.md of two versions, and which of the other files are new, gone or others."""

    rows: list[Row]
    files: list[str]


def as_html(markdown: str) -> SafeString:
    """Whatever it holds, no script, style or foreign frame is in the result."""
    return mark_safe(nh3.clean(_markdown.render(markdown), tags=TAGS))  # noqa: S308  # cleaned


def compare(former: Package, latter: Package) -> Comparison:
    before, after = (
        package.raw_document.decode(errors="replace").splitlines() for package in (former, latter)
    )
    return Comparison(list(_side_by_side(before, after)), _changed_files(former, latter))


def _side_by_side(before: Sequence[str], after: Sequence[str]) -> Iterator[Row]:
    """Line by line: to find out which words changed, as `HtmlDiff` does, can take minutes."""
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
            f"{path} is another"
            for path in sorted(before.keys() & after.keys())
            if before[path] != after[path]
        ),
    ]

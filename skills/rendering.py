"""Skills for the eyes of people: Markdown as HTML that is safe, and versions side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import HtmlDiff, unified_diff
from html import escape

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

from skills import documents
from skills.packages import Package

MOST_LINES = 2000
"""Longer texts are not laid out side by side: finding what belongs together would take minutes."""
WIDTH = 70

TAGS = nh3.ALLOWED_TAGS - {"img"}
"""A picture from elsewhere would tell its server who reads."""

_markdown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@dataclass(frozen=True, slots=True)
class Comparison:
    """The SKILL.md of two versions, and which of the other files are new, gone or others."""

    document: SafeString
    files: list[str]


def as_html(markdown: str) -> SafeString:
    """Whatever it holds, no script, style or foreign frame is in the result."""
    return mark_safe(nh3.clean(_markdown.render(markdown), tags=TAGS))  # noqa: S308  # cleaned


def compare(former: Package, latter: Package, names: tuple[str, str]) -> Comparison:
    texts = [package.raw_document.decode(errors="replace") for package in (former, latter)]
    before, after = (text.splitlines() for text in texts)
    return Comparison(_side_by_side(before, after, names), _changed_files(former, latter))


def _side_by_side(
    before: Sequence[str], after: Sequence[str], names: tuple[str, str]
) -> SafeString:
    if len(before) + len(after) > MOST_LINES:
        lines = unified_diff(before, after, *names, lineterm="", n=3)
        return mark_safe(f"<pre>{escape(chr(10).join(lines))}</pre>")  # noqa: S308  # escaped
    former, latter = map(escape, names)
    table = HtmlDiff(wrapcolumn=WIDTH).make_table(before, after, former, latter, context=True)
    return mark_safe(table)  # noqa: S308  # it escapes the lines


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

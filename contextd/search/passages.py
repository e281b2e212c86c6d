"""Cuts texts into passages that an embedding model can read whole."""

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from contextd.search import terms
from contextd.search.embedding import tokenizer
from contextd.search.embedding.tokenizer import Span

MAX_TOKENS = tokenizer.MAX_TOKENS - 2
MAX_CHARACTERS = 2000
HEADLINE_TOKENS = 48
HEADLINE_CHARACTERS = 400
OVERLAP_TOKENS = 32
OVERLAP_CHARACTERS = 250
MAX_SPAN_CHARACTERS = 100

# From the best place to cut to the worst: after a paragraph, a line, a sentence, a word.
_BORDERS = [re.compile(p) for p in (r"\n\s*\n", r"\n", r"[.!?]\s+|[\u3002\uff01\uff1f]", r"\s+")]


@dataclass(frozen=True, slots=True)
class PassageDraft:
    """A part of a text and its lines, counted from 1."""

    text: str
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class CutText:
    """Passages, each to be read under the headline."""

    headline: str
    passages: list[PassageDraft]
    token_count: int


def under(headline: str, text: str) -> str:
    """Return a passage with its headline in front, so that it is self-contained."""
    if not headline or text.startswith(headline):
        return text
    return f"{headline}\n{text}" if text else headline


def hash_of(headline: str, text: str) -> str:
    """Return a hash that is equal for passages with the same words and the same vector."""
    content = f"{terms.VERSION}\0{headline}\0{text}"
    return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()


def cut(headline: str, body: str) -> CutText:
    """Cut a text completely: a headline too long to repeat is cut as the start of the text."""
    headline = headline.strip()
    headline_spans, spans = tokenizer.spans(headline), tokenizer.spans(body)
    count = len(headline_spans) + len(spans)
    if not headline and not body.strip():
        return CutText("", [], 0)
    if count <= MAX_TOKENS and len(headline) + len(body) <= MAX_CHARACTERS:
        return CutText(headline, [_passage(body, 0, len(body))], count)
    if len(headline_spans) <= HEADLINE_TOKENS and len(headline) <= HEADLINE_CHARACTERS:
        return CutText(headline, _cut_under(len(headline_spans), body, spans), count)
    text = f"{headline}\n{body}"
    above = headline.count("\n") + 1 if body else 0
    passages = _cut_under(HEADLINE_TOKENS, text, tokenizer.spans(text), above)
    return CutText(_shortened(headline, headline_spans), passages, count)


def _shortened(headline: str, spans: list[Span]) -> str:
    end = spans[:HEADLINE_TOKENS][-1][1] if spans else HEADLINE_CHARACTERS
    return headline[: min(end, HEADLINE_CHARACTERS)].rstrip()


def _cut_under(
    headline_tokens: int, text: str, spans: list[Span], lines_above: int = 0
) -> list[PassageDraft]:
    windows = _windows(text, _bounded(spans), MAX_TOKENS - headline_tokens)
    return [_passage(text, start, end, lines_above) for start, end in windows]


def _bounded(spans: list[Span]) -> list[Span]:
    """Split longer spans: the tokenizer treats packed data as one token of any length."""
    return [
        (start, min(start + MAX_SPAN_CHARACTERS, end))
        for first, end in spans
        for start in range(first, end, MAX_SPAN_CHARACTERS)
    ]


def _windows(text: str, spans: list[Span], room: int) -> Iterator[Span]:
    """Yield overlapping parts of at most `room` tokens that end at the best possible boundary."""
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    start = 0
    while spans:
        first = bisect_left(starts, start)
        line_start = text.rfind("\n", start, starts[first]) + 1
        start = max(start, line_start, starts[first] - MAX_SPAN_CHARACTERS)
        limit = min(ends[first : first + room][-1], start + MAX_CHARACTERS)
        if limit == ends[-1]:
            yield start, limit
            return
        end = _last_border(text, (start + limit) // 2, limit)
        yield start, end
        overlap = max(first + 1, bisect_left(starts, end) - OVERLAP_TOKENS)
        start = _first_border(text, max(starts[overlap], end - OVERLAP_CHARACTERS), end)


def _last_border(text: str, low: int, high: int) -> int:
    for border in _BORDERS:
        if found := [match.end() for match in border.finditer(text, low, high)]:
            return found[-1]
    return high


def _first_border(text: str, low: int, high: int) -> int:
    for border in _BORDERS[1:]:
        if (match := border.search(text, low, high)) and match.end() < high:
            return match.end()
    return low


def _passage(text: str, start: int, end: int, lines_above: int = 0) -> PassageDraft:
    """Return the passage without the blank lines around it."""
    part = text[start:end]
    start += len(part) - len(part.lstrip("\r\n"))
    part = part.strip("\r\n").rstrip()
    first_line = text.count("\n", 0, start) + 1 - lines_above
    return PassageDraft(part, max(1, first_line), max(1, first_line + part.count("\n")))

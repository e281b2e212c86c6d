"""Excerpts for people: the matching words of a text, and the passage around them."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from contextd.search import terms

LENGTH = 280
LEAD = 60
"""Number of characters before the first matching word."""
MAX_READ_CHARACTERS = 4_000
_WORD = re.compile(r"\w+")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    is_match: bool


def excerpt(query: str, text: str) -> list[Piece]:
    """Return the part of the text that contains most words of the query, on one line."""
    line = " ".join(text[:MAX_READ_CHARACTERS].split())
    begin, end = _densest(matches(query, line), len(line))
    pieces = marked(query, line[begin:end])
    before = [Piece("… ", False)] if begin else []
    after = [Piece(" …", False)] if end < len(line) else []
    return [*before, *pieces, *after]


def marked(query: str, text: str) -> list[Piece]:
    """Return the whole text, in pieces."""
    pieces, done = [], 0
    for begin, end in matches(query, text):
        if begin > done:
            pieces.append(Piece(text[done:begin], False))
        pieces.append(Piece(text[begin:end], True))
        done = end
    return [*pieces, Piece(text[done:], False)] if done < len(text) else pieces


def matches(query: str, text: str) -> list[Span]:
    """Return the positions of words that the query contains too, whatever their endings."""
    asked = set(terms.terms(query))
    words = _WORD.finditer(text)
    return [word.span() for word in words if not asked.isdisjoint(terms.terms(word[0]))]


def _densest(spans: Sequence[Span], length: int) -> Span:
    """Return the first window of LENGTH characters that contains the most spans."""
    begins = [begin for begin, _ in spans]
    held = [
        bisect_left(begins, begin + LENGTH - LEAD) - place for place, begin in enumerate(begins)
    ]
    best = begins[held.index(max(held))] if held else 0
    begin = 0 if best <= LEAD else best - LEAD
    return begin, min(length, begin + LENGTH)

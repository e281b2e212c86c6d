"""Measures how much the words say that an error and a pattern have in common."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import chain

from contextd import limits
from contextd.search import terms
from troubleshoot.models import Pattern

FULL_INFORMATION = 2.2
"""Words that stand in one pattern alone count 1. With so much in common, wording counts in full.

Chosen on the development half of the labelled errors, and on lines that name no cause.
"""

STATE = """
SELECT count(*), max(updated_at) FROM troubleshoot_pattern WHERE NOT is_draft AND NOT is_retired
"""
State = tuple[int, datetime | None]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """In how many of the patterns each term stands."""

    patterns: int
    counts: Mapping[str, int]

    def information(self, words: Iterable[str], text: str) -> float:
        """Return from 0 to 1 how much the words say that the text has too, each counted once."""
        shared = set(terms.terms(text))
        rarities = {
            word.lower(): max((self.rarity(t) for t in terms.terms(word) if t in shared), default=0)
            for word in words
        }
        return min(1.0, sum(rarities.values()) / FULL_INFORMATION)

    def rarity(self, term: str) -> float:
        """Return 1 for a term of one pattern, and 0 for a term of all patterns or of none."""
        containing = self.counts.get(term, 0)
        if not containing:
            return 0.0
        rarest = terms.rarity(self.patterns, 1)
        return terms.rarity(self.patterns, containing) / rarest


def of_patterns(patterns: Iterable[Pattern]) -> Vocabulary:
    found = [set(terms.terms("\n".join(_texts_of(pattern)))) for pattern in patterns]
    return Vocabulary(len(found), Counter(chain.from_iterable(found)))


def _texts_of(pattern: Pattern) -> Sequence[str]:
    return (
        *(pattern.title, pattern.cause),
        *(*pattern.errors, *pattern.technologies, *pattern.tags),
    )


def state() -> State:
    """Return what differs once a published pattern has changed."""
    ((count, newest),) = limits.rows(STATE, [])
    return count, newest


@lru_cache(maxsize=1)
def at(state: State) -> Vocabulary:
    """Return that of the published patterns."""
    return of_patterns(Pattern.objects.published().defer("shipped", "offered", "confirm", "fix"))

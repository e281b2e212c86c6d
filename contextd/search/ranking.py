"""How well a passage answers a query: one absolute number, made of three parts.

cosine + 0.7 * BM25 / (the most BM25 could give this query) + 0.2 * likeness of the headlines
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from heapq import nlargest

from contextd.search.trigrams import similarity, trigrams

HEADLINE_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part adds to a score; they need not add up to one."""

    meaning: float = 1.0
    words: float = 0.7
    headline: float = 0.2

    @property
    def most(self) -> float:
        return self.meaning + self.words + self.headline


RECIPE = Weights()


@dataclass(frozen=True, slots=True)
class Rated:
    """A passage with what it has in common with the query; each part is at most 1."""

    passage_id: int
    record_id: int
    headline: str
    cosine: float | None
    lexical: float
    trigram: float = 0.0

    def value(self, weights: Weights) -> float:
        return (
            weights.meaning * (self.cosine or 0.0)
            + weights.words * self.lexical
            + weights.headline * self.trigram
        )

    def score(self, weights: Weights) -> float:
        """The value as a part of the most there could be, from 0 to 1."""
        return min(1.0, max(0.0, self.value(weights) / weights.most))


def best_of_records(
    rated: Iterable[Rated], headline: str, weights: Weights, limit: int
) -> list[Rated]:
    """Each record with its best passage, the best first."""
    asked = trigrams(headline[:HEADLINE_CHARACTERS])
    compared = (
        replace(passage, trigram=similarity(asked, trigrams(passage.headline)))
        for passage in _within_reach(list(rated), weights, limit)
    )
    return nlargest(limit, _best(compared, weights), key=lambda passage: passage.value(weights))


def _within_reach(rated: list[Rated], weights: Weights, limit: int) -> list[Rated]:
    """Those that can still be among the best when headlines have been compared."""
    leaders = nlargest(limit, (passage.value(weights) for passage in _best(rated, weights)))
    if len(leaders) < limit:
        return rated
    return [p for p in rated if p.value(weights) + weights.headline >= leaders[-1]]


def _best(rated: Iterable[Rated], weights: Weights) -> Iterable[Rated]:
    best: dict[int, Rated] = {}
    for passage in rated:
        rival = best.get(passage.record_id)
        if rival is None or passage.value(weights) > rival.value(weights):
            best[passage.record_id] = passage
    return best.values()

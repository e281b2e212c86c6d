"""Scores how well a passage answers a query: one absolute number with three parts.

cosine + 0.7 * BM25 / (maximum BM25 for this query) + 0.2 * similarity of the headlines
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from operator import itemgetter


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each part of a score; they need not add up to one."""

    meaning: float = 1.0
    words: float = 0.7
    headline: float = 0.2

    @property
    def most(self) -> float:
        return self.meaning + self.words + self.headline


RECIPE = Weights()


@dataclass(frozen=True, slots=True)
class Rated:
    """A passage and its similarity to the query; each part is at most 1.

    `meaning` replaces the cosine of a passage that has no vector yet.
    """

    passage_id: int
    record_id: int
    cosine: float | None
    lexical: float
    trigram: float = 0.0
    meaning: float = 0.0

    def value(self, weights: Weights) -> float:
        return (
            weights.meaning * (self.meaning if self.cosine is None else self.cosine)
            + weights.words * self.lexical
            + weights.headline * self.trigram
        )

    def score(self, weights: Weights) -> float:
        """Return the value relative to the maximum, from 0 to 1."""
        return min(1.0, max(0.0, self.value(weights) / weights.most))


Choose = Callable[[Iterable[Rated], Weights, int], list[Rated]]


def best_passages(rated: Iterable[Rated], weights: Weights, limit: int) -> list[Rated]:
    """Return the best passages of any record, the best first."""
    return nlargest(limit, rated, key=lambda passage: passage.value(weights))


def best_of_records(rated: Iterable[Rated], weights: Weights, limit: int) -> list[Rated]:
    """Return each record with its best passage, the best first."""
    best: dict[int, tuple[float, Rated]] = {}
    for passage in rated:
        value = passage.value(weights)
        if passage.record_id not in best or value > best[passage.record_id][0]:
            best[passage.record_id] = value, passage
    return [passage for _, passage in nlargest(limit, best.values(), key=itemgetter(0))]


def within_reach(
    rated: Sequence[Rated], weights: Weights, limit: int, choose: Choose
) -> Sequence[Rated]:
    """Return those that can still be among the best once headlines have been compared."""
    leaders = choose(rated, weights, limit)
    if len(leaders) < limit:
        return rated
    to_beat = leaders[-1].value(weights) - weights.headline
    return [passage for passage in rated if passage.value(weights) >= to_beat]

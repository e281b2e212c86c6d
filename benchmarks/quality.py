"""Tables of retrieval quality, per subset and overall."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks import report, sets

HEADS = ["ranking", "subset", "queries", "recall@1", "recall@5", "recall@10", "MRR@10", "nDCG@10"]
Rankings = Sequence[tuple[sets.Query, Sequence[str]]]


@dataclass(frozen=True)
class Ranked:
    """The results of one way of ranking; `times` are milliseconds, where measured."""

    name: str
    rankings: Rankings
    times: Sequence[float] = ()


def table(*ways: Ranked) -> str:
    rows = [row for way in ways for row in _rows(way)]
    return report.table([*HEADS, "p50 ms"], rows)


def macro(rankings: Rankings) -> sets.Quality:
    """Average over the subsets, so that a large one does not outweigh the others."""
    of_subsets = [sets.quality(pairs) for pairs in _by_subset(rankings).values()]
    means = (
        sum(column) / len(of_subsets) for column in zip(*map(_figures, of_subsets), strict=True)
    )
    return sets.Quality(*means)


def _rows(way: Ranked) -> list[list[str]]:
    p50 = f"{sets.percentile(way.times, 0.5):.1f}" if way.times else ""
    rows = [
        _row(way.name, subset, sets.quality(pairs), len(pairs), "")
        for subset, pairs in sorted(_by_subset(way.rankings).items())
    ]
    if len(rows) == 1:
        return [[*rows[0][:-1], p50]]
    number = len(way.rankings)
    return [
        _row(way.name, "mean of subsets", macro(way.rankings), number, p50),
        _row(way.name, "all", sets.quality(way.rankings), number, p50),
        *rows,
    ]


def _row(name: str, subset: str, found: sets.Quality, queries: int, p50: str) -> list[str]:
    return [name, subset, str(queries), *(f"{figure:.3f}" for figure in _figures(found)), p50]


def _figures(found: sets.Quality) -> list[float]:
    return [found.recall_1, found.recall_5, found.recall_10, found.mrr, found.ndcg]


def _by_subset(rankings: Rankings) -> dict[str, list[tuple[sets.Query, Sequence[str]]]]:
    subsets: dict[str, list[tuple[sets.Query, Sequence[str]]]] = {}
    for query, ranking in rankings:
        subsets.setdefault(query.subset, []).append((query, ranking))
    return subsets

"""Which passages are worth ranking: the nearest in meaning and the richest in words.

Records are filtered here, before the cut, so a filter never costs a result.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet, Sum, Value
from django.db.models.functions import Cast
from pgvector.django import CosineDistance, HalfVectorField

from contextd.search import terms, vectors
from contextd.search.embedding import Vector
from contextd.search.models import Coverage, Embedding, Passage, TermCount
from contextd.search.scope import Scope

NEAREST = 100
RICHEST = 200
MOST_POSTINGS = 10_000
"""So many entries are read, those of the rarest words; the others rank what these find."""

EXACT_PER_ROOT = 30
"""All n vectors of a scope are compared up to n = 30 * sqrt(N), with N in the whole index.

Comparing takes 1.5 µs for each; the index, where one in N / n is of the scope, 1.3 ms * N / n.
"""

MOST_EF_SEARCH = 1000
SEARCH_FURTHER = """
SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),
    set_config('hnsw.ef_search', %s, true)
"""
RICHEST_PASSAGES = """
SELECT passage_id
FROM search_posting JOIN unnest(%s::int[], %s::real[]) AS asked (number, weight) ON term = number
WHERE collection_id = ANY(%s) {}
GROUP BY passage_id
ORDER BY sum(search_posting.weight * asked.weight) DESC
LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the query, how many passages have it, and how much it counts."""

    number: int
    passages: int
    weight: float


@dataclass(frozen=True, slots=True)
class Candidates:
    """Passages worth ranking; `exhausted` when looking deeper finds no more."""

    passages: set[int]
    exhausted: bool


def asked_words(scope: Scope, query: str) -> list[Word]:
    """The words of the query, the rarest first; those that stand nowhere in the scope count too.

    What is asked for and not there is missed: without it, a record that shares one word of ten
    with the query would seem to have all that can be had, above all where little is stored.
    """
    asked = {
        terms.number(scope.domain, term): weight
        for term, weight in terms.query_weights(query).items()
    }
    counted = TermCount.objects.filter(term__in=asked, collection__in=scope.collections)
    passages = dict(counted.values_list("term").annotate(Sum("passages")))
    words = [
        Word(
            number,
            passages.get(number, 0),
            weight * terms.rarity(scope.passages, passages.get(number, 0)),
        )
        for number, weight in asked.items()
    ]
    return sorted(words, key=lambda word: word.passages)


def gather(scope: Scope, words: Sequence[Word], vector: Vector | None, depth: int) -> Candidates:
    """A few hundred passages; each step deeper reads that much more."""
    near = nearest(scope, vector, NEAREST * depth) if vector and scope.covered else []
    asked = _rarest(words, MOST_POSTINGS * depth)
    rich = richest(scope, asked, RICHEST * depth) if asked else []
    exhausted = (
        len(near) < NEAREST * depth and len(rich) < RICHEST * depth and len(asked) == len(words)
    )
    return Candidates({*near, *rich}, exhausted)


def nearest(scope: Scope, vector: Vector, limit: int) -> list[int]:
    """By meaning; of a small scope exactly, else by the index."""
    within = Embedding.objects.filter(space=scope.space, collection__in=scope.collections)
    if scope.records is not None:
        within = within.filter(record_id__in=scope.records)
    if _is_small(scope, within):
        return _nearest(within, "vector", vector, limit)
    with connection.cursor() as cursor:
        cursor.execute(SEARCH_FURTHER, [str(min(2 * limit, MOST_EF_SEARCH))])
    indexed = Cast("vector", HalfVectorField(dimensions=len(vector)))
    found = _nearest(within, indexed, vector, limit)
    # The index gives up early where few of the nearest are of the scope.
    return found if len(found) == limit else _nearest(within, "vector", vector, limit)


def _is_small(scope: Scope, within: QuerySet[Embedding]) -> bool:
    indexed = Coverage.objects.filter(space=scope.space).aggregate(n=Sum("passages", default=0))
    most = int(EXACT_PER_ROOT * indexed["n"] ** 0.5)
    if scope.records is None or scope.covered <= most:
        return scope.covered <= most
    return within.values("passage")[: most + 1].count() <= most


def _nearest(
    within: QuerySet[Embedding], column: str | Cast, vector: Vector, limit: int
) -> list[int]:
    distance = CosineDistance(column, Value(vectors.as_text(vector)))
    return list(within.order_by(distance).values_list("passage_id", flat=True)[:limit])


def _rarest(words: Sequence[Word], most_postings: int) -> Sequence[Word]:
    """At least one, however many passages have it."""
    totals = accumulate(word.passages for word in words)
    affordable = sum(total <= most_postings for total in totals)
    return words[: max(1, affordable)]


def richest(scope: Scope, words: Sequence[Word], limit: int) -> list[int]:
    """By BM25 of these words."""
    try:
        of_records, parameters = _of_records(scope)
    except EmptyResultSet:
        return []
    asked = [word.number for word in words], [word.weight for word in words]
    with connection.cursor() as cursor:
        cursor.execute(
            RICHEST_PASSAGES.format(of_records), [*asked, scope.collections, *parameters, limit]
        )
        return [passage for (passage,) in cursor.fetchall()]


def _of_records(scope: Scope) -> tuple[str, tuple[Any, ...]]:
    if scope.records is None:
        return "", ()
    passages = Passage.objects.filter(collection__in=scope.collections, record_id__in=scope.records)
    statement, parameters = passages.values("pk").query.sql_with_params()
    return f"AND passage_id IN ({statement})", parameters

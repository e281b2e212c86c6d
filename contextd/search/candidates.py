"""Which passages are worth ranking: the nearest in meaning and the richest in words.

Records are filtered here, before the cut, so a filter never costs a result.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from django.db import connection

from contextd.search import terms, vectors
from contextd.search.embedding import Vector
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
COUNTS = """
SELECT term, sum(passages)::bigint FROM search_termcount
WHERE term = ANY(%s) AND collection_id = ANY(%s)
GROUP BY term
"""
WITHIN = "space_id = %s AND collection_id = ANY(%s)"
SIZE = "SELECT count(*) FROM (SELECT FROM search_embedding WHERE {within} LIMIT %s) AS counted"
NEAREST_BY_SCAN = """
SELECT passage_id FROM search_embedding WHERE {within}
ORDER BY vector <=> %s::halfvec LIMIT %s
"""
NEAREST_BY_INDEX = """
SELECT passage_id FROM search_embedding WHERE {within}
ORDER BY vector::halfvec({dimensions}) <=> %s::halfvec({dimensions}) LIMIT %s
"""
RICHEST_PASSAGES = """
SELECT passage_id
FROM search_posting JOIN unnest(%s::int[], %s::real[]) AS asked (number, weight) ON term = number
WHERE collection_id = ANY(%s) {of_records}
GROUP BY passage_id
ORDER BY sum(search_posting.weight * asked.weight) DESC
LIMIT %s
"""
OF_RECORDS = """
AND passage_id IN (SELECT id FROM search_passage WHERE collection_id = ANY(%s) {records})
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
    passages = dict(_rows(COUNTS, [list(asked), scope.collections]))
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
    records, parameters = scope.records
    within = f"{WITHIN} {records}"
    here = [scope.space, scope.collections, *parameters]
    asked = [vectors.as_text(vector), limit]
    by_scan = NEAREST_BY_SCAN.format(within=within)
    if _is_small(scope, within, here):
        return _ids(by_scan, [*here, *asked])
    _rows(SEARCH_FURTHER, [str(min(limit, MOST_EF_SEARCH))])
    by_index = NEAREST_BY_INDEX.format(within=within, dimensions=len(vector))
    found = _ids(by_index, [*here, *asked])
    # The index gives up early where few of the nearest are of the scope.
    return found if len(found) == limit else _ids(by_scan, [*here, *asked])


def _is_small(scope: Scope, within: str, here: Sequence[Any]) -> bool:
    most = int(EXACT_PER_ROOT * scope.indexed**0.5)
    if scope.covered <= most or not scope.is_filtered:
        return scope.covered <= most
    (size,) = _ids(SIZE.format(within=within), [*here, most + 1])
    return size <= most


def _rarest(words: Sequence[Word], most_postings: int) -> Sequence[Word]:
    """At least one, however many passages have it."""
    totals = accumulate(word.passages for word in words)
    affordable = sum(total <= most_postings for total in totals)
    return words[: max(1, affordable)]


def richest(scope: Scope, words: Sequence[Word], limit: int) -> list[int]:
    """By BM25 of these words."""
    records, parameters = scope.records
    statement = RICHEST_PASSAGES.format(of_records=OF_RECORDS if records else "")
    here = [scope.collections, *parameters] if records else []
    asked = [[word.number for word in words], [word.weight for word in words]]
    return _ids(statement.format(records=records), [*asked, scope.collections, *here, limit])


def _ids(statement: str, parameters: Sequence[Any]) -> list[int]:
    return [number for (number,) in _rows(statement, parameters)]


def _rows(statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows

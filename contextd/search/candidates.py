"""Selects passages worth ranking: the nearest in meaning and the best by BM25.

Records are filtered here, before the limit, so a filter never costs a result.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from contextd import limits
from contextd.search import terms, vectors
from contextd.search.embedding import Vector
from contextd.search.scope import Scope

RICHEST = MAX_NEAREST = 100
NEAREST_OF_RECORD, MIN_NEAREST = 10, 50
"""Number of nearest passages per requested record, and their minimum in total. With 50 of them and
as many of the best by BM25, none of the top five of 10,000 checkpoints is missed."""

MAX_POSTINGS = 10_000
"""Maximum number of postings read, those of the rarest words; the others only rank the results."""

EXACT_PER_ROOT = 30
"""All n vectors of a scope are compared up to n = 30 * sqrt(N), with N in the whole index.

A comparison takes 1.5 µs; the index takes 1.3 ms * N / n, if one in N / n is in the scope.
"""

FURTHEST_PER_ROOT = 7
"""With a condition on records, which matches an unknown number, the index is searched for a hundred
passages through at most 7 * sqrt(N) of them; if that finds too few, few match, and all are
compared."""

MAX_EF_SEARCH = 1000
MAX_SCANNED_TUPLES = 20_000
WITHIN = "space_id = %s AND collection_id = ANY(%s)"
NEAREST_BY_SCAN = """
SELECT passage_id FROM search_embedding WHERE {within}
ORDER BY vector <=> %s::halfvec LIMIT %s
"""
NEAREST_BY_INDEX = """
SELECT passage_id FROM search_embedding WHERE {within}
ORDER BY vector::halfvec({dimensions}) <=> %s::halfvec({dimensions}) LIMIT %s
"""
RICHEST_PASSAGES = """
SELECT passage_id FROM (
    SELECT passage_id, sum(search_posting.weight * asked.weight) AS bm25
    FROM search_posting
    JOIN unnest(%s::int[], %s::real[]) AS asked (number, weight) ON term = number
    WHERE collection_id = ANY(%s)
    GROUP BY passage_id
    ORDER BY bm25 DESC
) AS rated {of_records}
ORDER BY bm25 DESC LIMIT %s
"""
OF_RECORDS = "WHERE EXISTS (SELECT FROM search_passage WHERE id = passage_id {records})"


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the query, how many passages contain it, and its weight."""

    number: int
    passages: int
    weight: float


@dataclass(frozen=True, slots=True)
class Candidates:
    """Passages worth ranking; `exhausted` if looking deeper finds no more."""

    passages: set[int]
    exhausted: bool


def asked_in(domain: str, query: str) -> dict[int, float]:
    """Return the weight of each word of the query, before its rarity, by number."""
    weights = terms.query_weights(query)
    return {terms.number(domain, term): weight for term, weight in weights.items()}


def asked_words(scope: Scope, asked: Mapping[int, float]) -> list[Word]:
    """Return the words, rarest first, including those that occur nowhere in the scope.

    Missing words must count: without them, a record that shares one word of ten with the query
    would seem to be a full match, above all where little is stored.
    """
    words = [
        Word(number, containing, weight * terms.rarity(scope.passages, containing))
        for number, weight in asked.items()
        for containing in [scope.containing.get(number, 0)]
    ]
    return sorted(words, key=lambda word: word.passages)


def by_words(scope: Scope, words: Sequence[Word], depth: int) -> Candidates:
    """Return a hundred passages; each step deeper reads that much more."""
    asked = _rarest(words, MAX_POSTINGS * depth)
    rich = richest(scope, asked, RICHEST * depth) if asked else []
    return Candidates(set(rich), len(rich) < RICHEST * depth and len(asked) == len(words))


def by_meaning(scope: Scope, vector: Vector | None, records: int, depth: int) -> Candidates:
    """Return ten passages per requested record, up to a hundred; deeper, that much more."""
    most = depth * min(MAX_NEAREST, max(MIN_NEAREST, NEAREST_OF_RECORD * records))
    near = nearest(scope, vector, most) if vector and scope.covered else []
    return Candidates(set(near), len(near) < most)


def nearest(scope: Scope, vector: Vector, limit: int) -> list[int]:
    """Return the nearest passages: exact in a small scope, otherwise by the index."""
    records, parameters = scope.records
    within = f"{WITHIN} {records}"
    here = [scope.space, scope.collections, *parameters]
    asked = [vectors.as_text(vector), limit]
    by_scan = NEAREST_BY_SCAN.format(within=within)
    root = scope.indexed**0.5
    if scope.covered <= EXACT_PER_ROOT * root:
        return _ids(by_scan, [*here, *asked])
    furthest = FURTHEST_PER_ROOT * root * limit / MAX_NEAREST if records else MAX_SCANNED_TUPLES
    search_on = {
        "hnsw.iterative_scan": "relaxed_order",
        "hnsw.ef_search": min(limit, MAX_EF_SEARCH),
        "hnsw.max_scan_tuples": round(furthest),
    }
    by_index = NEAREST_BY_INDEX.format(within=within, dimensions=len(vector))
    found = _ids(by_index, [*here, *asked], search_on)
    return found if len(found) == limit else _ids(by_scan, [*here, *asked])


def _rarest(words: Sequence[Word], most_postings: int) -> Sequence[Word]:
    """Return the rarest words; at least one, however many passages contain it."""
    totals = accumulate(word.passages for word in words)
    affordable = sum(total <= most_postings for total in totals)
    return words[: max(1, affordable)]


def richest(scope: Scope, words: Sequence[Word], limit: int) -> list[int]:
    """Return the best passages by BM25 of these words."""
    records, parameters = scope.records
    statement = RICHEST_PASSAGES.format(of_records=OF_RECORDS if records else "")
    asked = [[word.number for word in words], [word.weight for word in words]]
    here = [scope.collections, *parameters]
    return _ids(statement.format(records=records), [*asked, *here, limit])


def _ids(
    statement: str, parameters: Sequence[Any], options: Mapping[str, str | int] = limits.NO_OPTIONS
) -> list[int]:
    return [number for (number,) in limits.rows(statement, parameters, options)]

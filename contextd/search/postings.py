"""The words of passages and their counts, which BM25 reads.

Callers hold the lock on the collection's row, so concurrent changes are impossible.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import connection

from contextd.search.models import Passage, TermCount

INSERT = """
INSERT INTO search_posting (term, collection_id, passage_id, weight)
SELECT term, %(collection)s, passage, weight
FROM unnest(%(terms)s::int[], %(passages)s::int[], %(weights)s::real[])
    AS new (term, passage, weight)
ORDER BY term, passage
ON CONFLICT (term, collection_id, passage_id) DO UPDATE SET weight = excluded.weight
"""
DELETE = """
DELETE FROM search_posting USING unnest(%(terms)s::int[], %(passages)s::int[])
    AS old (term, passage)
WHERE search_posting.term = old.term
    AND search_posting.collection_id = %(collection)s
    AND search_posting.passage_id = old.passage
"""
DELETE_ORPHANS = """
DELETE FROM search_posting WHERE NOT EXISTS (
    SELECT FROM search_passage AS passage
    WHERE passage.id = passage_id AND passage.collection_id = search_posting.collection_id
)
"""
COUNT_MORE = """
INSERT INTO search_termcount AS known (term, collection_id, passages)
SELECT term, %(collection)s, number
FROM unnest(%(terms)s::int[], %(numbers)s::int[]) AS new (term, number)
ON CONFLICT (term, collection_id) DO UPDATE SET passages = known.passages + excluded.passages
"""
COUNT_FEWER = """
UPDATE search_termcount SET passages = greatest(0, search_termcount.passages - number)
FROM unnest(%(terms)s::int[], %(numbers)s::int[]) AS old (term, number)
WHERE search_termcount.term = old.term AND search_termcount.collection_id = %(collection)s
"""
FORGET_UNUSED = """
DELETE FROM search_termcount
WHERE term = ANY(%(terms)s) AND collection_id = %(collection)s AND passages = 0
"""
MERGE = """
UPDATE search_posting SET collection_id = %(kept)s
WHERE collection_id = %(absorbed)s
    AND term IN (SELECT term FROM search_termcount WHERE collection_id = %(absorbed)s)
"""
MERGE_COUNTS = """
INSERT INTO search_termcount AS known (term, collection_id, passages)
SELECT term, %(kept)s, passages FROM search_termcount WHERE collection_id = %(absorbed)s
ON CONFLICT (term, collection_id) DO UPDATE SET passages = known.passages + excluded.passages
"""


def add(collection_id: int, passages: Sequence[Passage]) -> None:
    add_words(collection_id, passages)
    _write([COUNT_MORE], _counts_of(collection_id, _numbers(passages)))


def remove(collection_id: int, passages: Sequence[Passage]) -> None:
    remove_words(collection_id, passages)
    _write([COUNT_FEWER, FORGET_UNUSED], _counts_of(collection_id, _numbers(passages)))


def add_words(collection_id: int, passages: Sequence[Passage]) -> None:
    """Add the words without counting them; see `recount`."""
    _write([INSERT], _words_of(collection_id, passages))


def remove_words(collection_id: int, passages: Sequence[Passage]) -> None:
    """Remove the words without counting them; see `recount`."""
    _write([DELETE], _words_of(collection_id, passages))


def recount(collection_id: int, numbers: Mapping[int, int]) -> None:
    """Replace all counts of the collection."""
    TermCount.objects.filter(collection=collection_id).delete()
    _write([COUNT_MORE], _counts_of(collection_id, numbers))


def remove_orphans() -> None:
    """Remove the words of passages that no longer exist."""
    _write([DELETE_ORPHANS], {})


def merge(kept_id: int, absorbed_id: int) -> None:
    _write([MERGE, MERGE_COUNTS], {"kept": kept_id, "absorbed": absorbed_id})


def _words_of(collection_id: int, passages: Sequence[Passage]) -> dict[str, Any]:
    return {
        "collection": collection_id,
        "terms": _array(term for passage in passages for term in passage.words.indices()),
        "passages": _array(passage.pk for passage in passages for _ in passage.words.indices()),
        "weights": _array(weight for passage in passages for weight in passage.words.values()),
    }


def _array(numbers: Iterable[float]) -> str:
    """Return PostgreSQL's text format, in a quarter of the driver's time for a list."""
    return f"{{{','.join(map(str, numbers))}}}"


def _numbers(passages: Sequence[Passage]) -> Mapping[int, int]:
    return Counter(term for passage in passages for term in passage.words.indices())


def _counts_of(collection_id: int, numbers: Mapping[int, int]) -> dict[str, Any]:
    return {
        "collection": collection_id,
        "terms": _array(numbers),
        "numbers": _array(numbers.values()),
    }


def _write(statements: Sequence[str], parameters: dict[str, Any]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement, parameters)

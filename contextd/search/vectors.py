"""Stores the vectors of passages, one per space, and how far a space covers a collection.

Callers hold the lock on the collection's row, so the coverage stays exact.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, F
from psycopg import sql

from contextd.search.embedding import Vector
from contextd.search.models import Coverage, Embedding, Passage, Space

INSERT = """
INSERT INTO search_embedding (passage_id, space_id, collection_id, record_id, vector)
SELECT passage, %(space)s, %(collection)s, record, vector::halfvec
FROM unnest(%(passages)s::int[], %(records)s::bigint[], %(vectors)s::text[])
    AS new (passage, record, vector)
ON CONFLICT DO NOTHING
"""
COVER = """
INSERT INTO search_coverage AS known (collection_id, space_id, passages)
VALUES (%(collection)s, %(space)s, %(number)s)
ON CONFLICT (collection_id, space_id) DO UPDATE SET passages = known.passages + excluded.passages
"""
DELETE = """
DELETE FROM search_embedding WHERE passage_id = ANY(%s) RETURNING collection_id, space_id
"""
MERGE = """
UPDATE search_embedding SET collection_id = %(kept)s WHERE collection_id = %(absorbed)s
"""
MERGE_COVERAGE = """
INSERT INTO search_coverage AS known (collection_id, space_id, passages)
SELECT %(kept)s, space_id, passages FROM search_coverage WHERE collection_id = %(absorbed)s
ON CONFLICT (collection_id, space_id) DO UPDATE SET passages = known.passages + excluded.passages
"""
CREATE_INDEX = """
CREATE INDEX IF NOT EXISTS {name} ON search_embedding
USING hnsw ((vector::halfvec({dimensions})) halfvec_cosine_ops) WHERE space_id = {space}
"""


def as_text(vector: Vector) -> str:
    """Return Postgres' text format; half precision has no more digits."""
    return f"[{','.join([format(number, '.5g') for number in vector])}]"


def ensure_space(name: str) -> None:
    """Register a space, and create its index for nearest neighbours."""
    dimensions = int(name.rpartition(":")[2])
    with transaction.atomic():
        _, is_new = Space.objects.get_or_create(name=name, defaults={"dimensions": dimensions})
        if is_new:
            create_index(name, dimensions)


def space_of(model: str) -> str | None:
    """Return the space in which the model has most recently embedded something."""
    names = Space.objects.order_by("-created_at").values_list("name", flat=True)
    return next((name for name in names if name.rpartition(":")[0] == model), None)


def index_name(space: str) -> str:
    return f"search_near_{hashlib.blake2b(space.encode(), digest_size=6).hexdigest()}"


def create_index(space: str, dimensions: int) -> None:
    """Create the index over the vectors of a space, unless it exists."""
    statement = sql.SQL(CREATE_INDEX).format(
        name=sql.Identifier(index_name(space)),
        dimensions=sql.Literal(dimensions),
        space=sql.Literal(space),
    )
    with connection.cursor() as cursor:
        cursor.execute(statement)


def add(collection_id: int, space: str, vectors: Mapping[Passage, Vector]) -> None:
    """Store vectors of passages of one collection; existing vectors are kept."""
    if not vectors:
        return
    parameters: dict[str, Any] = {
        "space": space,
        "collection": collection_id,
        "passages": [passage.pk for passage in vectors],
        "records": [passage.record_id for passage in vectors],
        "vectors": [as_text(vector) for vector in vectors.values()],
    }
    with connection.cursor() as cursor:
        cursor.execute(INSERT, parameters)
        cursor.execute(COVER, {**parameters, "number": cursor.rowcount})


def remove(passages: Sequence[Passage]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(DELETE, [[passage.pk for passage in passages]])
        removed = Counter(cursor.fetchall())
    for (collection_id, space), number in removed.items():
        Coverage.objects.filter(collection_id=collection_id, space_id=space).update(
            passages=F("passages") - number
        )


def recount(collection_id: int) -> None:
    """Replace the coverage of the collection by the actual count."""
    spaces = Embedding.objects.filter(collection=collection_id).values_list("space")
    numbers = list(spaces.annotate(Count("passage")))
    Coverage.objects.filter(collection=collection_id).delete()
    with connection.cursor() as cursor:
        for space, number in numbers:
            cursor.execute(COVER, {"collection": collection_id, "space": space, "number": number})


def clear(collection_id: int, space: str) -> None:
    """Remove the vectors of the collection's passages in the space."""
    Embedding.objects.filter(collection=collection_id, space=space).delete()
    Coverage.objects.filter(collection=collection_id, space=space).delete()


def drop_space(name: str) -> None:
    drop_index = sql.SQL("DROP INDEX IF EXISTS {}").format(sql.Identifier(index_name(name)))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(drop_index)
        Space.objects.filter(name=name).delete()


def merge(kept_id: int, absorbed_id: int) -> None:
    with connection.cursor() as cursor:
        for statement in (MERGE, MERGE_COVERAGE):
            cursor.execute(statement, {"kept": kept_id, "absorbed": absorbed_id})

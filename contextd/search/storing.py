"""Stores the passages of records, with all counts about them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import groupby

from django.db import transaction
from django.db.models import F
from pgvector import SparseVector

from contextd import jobs
from contextd.search import postings, terms, vectors
from contextd.search.embedding import Vector
from contextd.search.models import TERM_SPACE, Collection, Passage
from contextd.search.preparing import Prepared

EMBED_PENDING = "contextd.search.tasks.embed_pending"
PLACE = ["ordinal", "first_line", "last_line"]

Made = tuple[Prepared, list[Passage]]


_waiting: ContextVar[dict[tuple[str, int], tuple[int | None, Prepared]] | None] = ContextVar(
    "waiting", default=None
)


@contextmanager
def storing_together() -> Iterator[None]:
    """Store what the block stores at its end, so that many records in one transaction are quick.

    One by one they would slow down: each changes the same counts, whose old versions remain
    until the transaction ends. Nothing may be searched or forgotten within the block.
    """
    waiting: dict[tuple[str, int], tuple[int | None, Prepared]] = {}
    token = _waiting.set(waiting)
    try:
        yield
    finally:
        _waiting.reset(token)
    together: dict[tuple[str, int | None], dict[int, Prepared]] = {}
    for (domain, record_id), (project_id, prepared) in waiting.items():
        together.setdefault((domain, project_id), {})[record_id] = prepared
    for (domain, project_id), records in together.items():
        store_many(domain, project_id, records)


def store(domain: str, record_id: int, project_id: int | None, prepared: Prepared) -> None:
    """Make these the passages of the record; unchanged ones keep their vectors.

    Two writers of the same record must not meet here: write or lock the record's row first.
    """
    waiting = _waiting.get()
    if waiting is None:
        store_many(domain, project_id, {record_id: prepared})
    else:
        waiting[domain, record_id] = project_id, prepared


def store_many(domain: str, project_id: int | None, records: Mapping[int, Prepared]) -> None:
    """Store many records of one project: faster than one by one, and not slower with each."""
    with transaction.atomic():
        spaces = {prepared.space for prepared in records.values() if prepared.space}
        for space in spaces:
            vectors.ensure_space(space)
        collection, _ = Collection.objects.get_or_create(
            domain=domain,
            project_id=project_id,  # type: ignore[misc]  # the stubs forget that it may be null
        )
        stale = _locked_passages(domain, [*records], {collection.pk})
        made = [
            (prepared, _passages(collection, record_id, prepared))
            for record_id, prepared in records.items()
        ]
        passages = [passage for _, of_record in made for passage in of_record]
        _remove(_without_unchanged(stale, passages))
        Passage.objects.bulk_update([p for p in passages if p.pk], PLACE)
        _add(collection.pk, [p for p in passages if not p.pk])
        for space in spaces:
            vectors.add(collection.pk, space, _vectors_in(space, made))
        if not all(prepared.embedded for prepared in records.values()):
            jobs.defer(EMBED_PENDING)


def forget(domain: str, record_ids: Iterable[int]) -> None:
    """Remove everything that these records are found by."""
    with transaction.atomic():
        _remove(_locked_passages(domain, list(record_ids)))


def lock(collection_ids: Iterable[int]) -> None:
    """Lock these collections, always in the same order, against other writers."""
    locked = Collection.objects.select_for_update(no_key=True).filter(pk__in=collection_ids)
    list(locked.order_by("pk"))


def _locked_passages(
    domain: str, record_ids: Sequence[int], collection_ids: Iterable[int] = ()
) -> list[Passage]:
    """Return the passages of the records; their collections, and those given, are locked."""
    passages = Passage.objects.filter(collection__domain=domain, record_id__in=record_ids)
    lock({*collection_ids, *passages.values_list("collection_id", flat=True)})
    return list(passages.defer("headline", "text").order_by("collection_id"))


def _passages(collection: Collection, record_id: int, prepared: Prepared) -> list[Passage]:
    return [
        Passage(
            collection=collection,
            record_id=record_id,
            ordinal=ordinal,
            headline=passage.headline,
            text=passage.text,
            first_line=passage.first_line,
            last_line=passage.last_line,
            content_hash=passage.content_hash,
            words=words_of(collection.domain, passage.counts),
        )
        for ordinal, passage in enumerate(prepared.passages)
    ]


def words_of(domain: str, counts: Mapping[str, int]) -> SparseVector:
    """Return the words of a passage as a vector; its product with a query's vector is the BM25."""
    weights = terms.weights(counts)
    numbered = {terms.number(domain, term): weight for term, weight in weights.items()}
    return SparseVector(numbered, TERM_SPACE)


def _without_unchanged(stale: Sequence[Passage], made: Sequence[Passage]) -> list[Passage]:
    """Return the passages that really changed; equal new passages take over the old numbers."""
    known = {(p.collection_id, p.record_id, p.content_hash): p.pk for p in stale}
    for passage in made:
        same = (passage.collection_id, passage.record_id, passage.content_hash)
        passage.pk = known.pop(same, None)
    kept = {passage.pk for passage in made}
    return [passage for passage in stale if passage.pk not in kept]


def _add(collection_id: int, passages: Sequence[Passage]) -> None:
    if passages:
        Passage.objects.bulk_create(passages)
        postings.add(collection_id, passages)
        more = F("passages") + len(passages)
        Collection.objects.filter(pk=collection_id).update(passages=more)


def _vectors_in(space: str, made: Iterable[Made]) -> dict[Passage, Vector]:
    return {
        passage: embedded.vector
        for prepared, passages in made
        for passage, embedded in zip(passages, prepared.passages, strict=True)
        if prepared.space == space and embedded.vector is not None
    }


def _remove(passages: Sequence[Passage]) -> None:
    """Remove passages, which must be sorted by collection."""
    if not passages:
        return
    vectors.remove(passages)
    for collection_id, group in groupby(passages, lambda passage: passage.collection_id):
        removed = list(group)
        postings.remove(collection_id, removed)
        Collection.objects.filter(pk=collection_id).update(passages=F("passages") - len(removed))
    Passage.objects.filter(pk__in=[passage.pk for passage in passages]).delete()


def merge_projects(kept_id: int, absorbed_id: int) -> None:
    """Move the passages of the absorbed project to the kept one."""
    with transaction.atomic():
        for absorbed in Collection.objects.filter(project_id=absorbed_id).order_by("pk"):
            kept, _ = Collection.objects.get_or_create(domain=absorbed.domain, project_id=kept_id)
            lock([kept.pk, absorbed.pk])
            absorbed.refresh_from_db()
            postings.merge(kept.pk, absorbed.pk)
            vectors.merge(kept.pk, absorbed.pk)
            Passage.objects.filter(collection=absorbed).update(collection=kept)
            more = F("passages") + absorbed.passages
            Collection.objects.filter(pk=kept.pk).update(passages=more)
            absorbed.delete()

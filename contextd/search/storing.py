"""Keeping the passages of records, with all that is counted about them."""

from collections.abc import Iterable, Mapping, Sequence
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

Places = dict[int, Passage]


def store(domain: str, record_id: int, project_id: int | None, prepared: Prepared) -> None:
    """Make these the passages of the record; one that has not changed keeps its vector.

    Two writers of the same record must not meet here: write or lock the record's row first.
    """
    with transaction.atomic():
        if prepared.space:
            vectors.ensure_space(prepared.space)
        collection, _ = Collection.objects.get_or_create(
            domain=domain,
            project_id=project_id,  # type: ignore[misc]  # the stubs forget that it may be null
        )
        stale = _locked_passages(domain, [record_id], {collection.pk})
        kept = _take_unchanged(stale, collection.pk, prepared)
        _remove(stale)
        Passage.objects.bulk_update(kept.values(), PLACE)
        added = _add(collection, record_id, prepared, without=kept)
        if prepared.space:
            found = _vectors_of(prepared, kept | added)
            vectors.add(collection.pk, prepared.space, found)
        if not prepared.embedded:
            jobs.defer(EMBED_PENDING)


def forget(domain: str, record_ids: Iterable[int]) -> None:
    """Remove all that these records are found by."""
    with transaction.atomic():
        _remove(_locked_passages(domain, list(record_ids)))


def lock(collection_ids: Iterable[int]) -> None:
    """Wait for other writers of these collections; always in the same order."""
    locked = Collection.objects.select_for_update(no_key=True).filter(pk__in=collection_ids)
    list(locked.order_by("pk"))


def _locked_passages(
    domain: str, record_ids: Sequence[int], collection_ids: Iterable[int] = ()
) -> list[Passage]:
    """What there is of the records; their collections, and those given, are locked."""
    passages = Passage.objects.filter(collection__domain=domain, record_id__in=record_ids)
    lock({*collection_ids, *passages.values_list("collection_id", flat=True)})
    return list(passages.defer("headline", "text").order_by("collection_id"))


def _take_unchanged(stale: list[Passage], collection_id: int, prepared: Prepared) -> Places:
    """Take out of `stale` what still is a passage of the record, and put it in its place."""
    kept: Places = {}
    reusable = {p.content_hash: p for p in stale if p.collection_id == collection_id}
    for ordinal, passage in enumerate(prepared.passages):
        if old := reusable.pop(passage.content_hash, None):
            stale.remove(old)
            old.ordinal = ordinal
            old.first_line, old.last_line = passage.first_line, passage.last_line
            kept[ordinal] = old
    return kept


def _add(collection: Collection, record_id: int, prepared: Prepared, *, without: Places) -> Places:
    added = {
        ordinal: Passage(
            collection=collection,
            record_id=record_id,
            ordinal=ordinal,
            headline=prepared.headline,
            text=passage.text,
            first_line=passage.first_line,
            last_line=passage.last_line,
            content_hash=passage.content_hash,
            words=words_of(collection.domain, passage.counts),
        )
        for ordinal, passage in enumerate(prepared.passages)
        if ordinal not in without
    }
    if added:
        Passage.objects.bulk_create(added.values())
        postings.add(collection.pk, [*added.values()])
        Collection.objects.filter(pk=collection.pk).update(passages=F("passages") + len(added))
    return added


def words_of(domain: str, counts: Mapping[str, int]) -> SparseVector:
    """The words of a passage as a vector; its product with that of a query is their BM25."""
    weights = terms.weights(counts)
    numbered = {terms.number(domain, term): weight for term, weight in weights.items()}
    return SparseVector(numbered, TERM_SPACE)


def _vectors_of(prepared: Prepared, places: Places) -> dict[Passage, Vector]:
    return {
        places[ordinal]: passage.vector
        for ordinal, passage in enumerate(prepared.passages)
        if passage.vector is not None
    }


def _remove(passages: Sequence[Passage]) -> None:
    """Passages come sorted by collection."""
    if not passages:
        return
    vectors.remove(passages)
    for collection_id, group in groupby(passages, lambda passage: passage.collection_id):
        removed = list(group)
        postings.remove(collection_id, removed)
        Collection.objects.filter(pk=collection_id).update(passages=F("passages") - len(removed))
    Passage.objects.filter(pk__in=[passage.pk for passage in passages]).delete()


def merge_projects(kept_id: int, absorbed_id: int) -> None:
    """What was found in the absorbed project is found in the kept one from now on."""
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

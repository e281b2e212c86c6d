"""Rebuilds what is derived from the text of passages: words, postings and all counts.

Each step is a short transaction, so saves and searches continue; a second run completes an
interrupted one.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from contextd import limits
from contextd.search import passages, postings, storing, terms, vectors
from contextd.search.models import Collection, Passage

BATCH = 200


def repair() -> Iterator[int]:
    """Repair one collection after another; yield the number of passages checked in each step."""
    postings.remove_orphans()
    for collection in Collection.objects.order_by("pk"):
        after = 0
        while batch := _repair_words(collection, after):
            yield len(batch)
            after = batch[-1].pk
        _recount(collection)


def _repair_words(collection: Collection, after: int) -> Sequence[Passage]:
    with limits.transaction():
        storing.lock([collection.pk])
        later = Passage.objects.filter(collection=collection, pk__gt=after).order_by("pk")
        batch = list(later[:BATCH])
        postings.remove_words(collection.pk, batch)
        for passage in batch:
            text = passages.under(passage.headline, passage.text)
            passage.words = storing.words_of(collection.domain, Counter(terms.terms(text)))
            passage.content_hash = passages.hash_of(passage.headline, passage.text)
        Passage.objects.bulk_update(batch, ["words", "content_hash"])
        postings.add_words(collection.pk, batch)
    return batch


def _recount(collection: Collection) -> None:
    with limits.transaction():
        storing.lock([collection.pk])
        counts: Counter[int] = Counter()
        stored = Passage.objects.filter(collection=collection).values_list("words", flat=True)
        for words in stored.iterator():
            counts.update(words.indices())
        postings.recount(collection.pk, counts)
        vectors.recount(collection.pk)
        Collection.objects.filter(pk=collection.pk).update(passages=stored.count())

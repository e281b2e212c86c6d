"""Embeds passages that have no vector, or only vectors of another model."""

import logging
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from itertools import groupby

from django.db.models import Exists, OuterRef, Sum

from contextd import jobs, limits
from contextd.search import embedding, leases, passages, storing, vectors
from contextd.search.embedding import Embedded, EmbeddingUnavailable, TextRefused
from contextd.search.models import Collection, Coverage, Embedding, Passage, Space

RUN_SECONDS = 50
BATCH = 16
BATCH_SECONDS = 20
MIN_EMBEDDED_CHARACTERS = 50

logger = logging.getLogger(__name__)


def embed_pending() -> int:
    """Embed for a while, queue the rest again, and return how many passages were embedded.

    Jobs go first, since they create more to find: embedding takes most of a small machine.
    """
    done = 0
    if jobs.are_running():
        return done
    stop_at = time.monotonic() + RUN_SECONDS
    try:
        with closing(embed_batches()) as batches:
            for number in batches:
                done += number
                if jobs.are_running():
                    break
                if time.monotonic() > stop_at:
                    embed_soon()
                    break
    except EmbeddingUnavailable as error:
        logger.warning("passages are still waiting to be embedded: %s", error)
    return done


def embed_soon() -> None:
    """Have a worker embed pending passages; each minute, one also checks without being asked."""
    jobs.defer(storing.EMBED_PENDING)


def embed_batches() -> Generator[int, None, None]:
    """Embed pending passages, the newest first; yield the number of each batch.

    End at once if another worker is embedding. Raise EmbeddingUnavailable.
    """
    if not count_pending():
        return
    space = embedding.embed(["ready"], BATCH_SECONDS).space
    vectors.ensure_space(space)
    with leases.leased(space) as lease:
        for batch in _batches(space):
            if not (lease and lease.renew()):
                return
            yield _embed(batch)


def count_pending() -> int:
    """Return how many passages have no vector of the configured model."""
    space = vectors.space_of(embedding.model())
    covered = Coverage.objects.filter(space=space).aggregate(n=Sum("passages", default=0))
    stored = Collection.objects.aggregate(n=Sum("passages", default=0))
    return int(stored["n"] - covered["n"])


def _batches(space: str) -> Iterator[list[Passage]]:
    covered = Coverage.objects.filter(
        collection=OuterRef("pk"), space=space, passages=OuterRef("passages")
    )
    incomplete = Collection.objects.filter(~Exists(covered), passages__gt=0)
    embedded = Embedding.objects.filter(passage=OuterRef("pk"), space=space)
    pending = Passage.objects.filter(~Exists(embedded), collection__in=incomplete)
    newest = pending.defer("words").order_by("-pk")
    batch = list(newest[:BATCH])
    while batch:
        yield batch
        batch = list(newest.filter(pk__lt=batch[-1].pk)[:BATCH])


def _embed(batch: Sequence[Passage]) -> int:
    """Embed a batch; halve it, down to single passages, while the backend refuses one of them."""
    texts = [passages.under(passage.headline, passage.text) for passage in batch]
    try:
        embedded = embedding.embed(texts, BATCH_SECONDS)
    except TextRefused as error:
        if len(batch) == 1:
            return _embed_beginning(batch[0], texts[0], error)
        half = len(batch) // 2
        return _embed(batch[:half]) + _embed(batch[half:])
    _keep(batch, embedded)
    return len(batch)


def _embed_beginning(passage: Passage, text: str, error: TextRefused) -> int:
    """Embed as much of a refused text as the backend accepts: it is usually too long for it."""
    while (length := len(text) // 2) >= MIN_EMBEDDED_CHARACTERS:
        text = text[:length]
        with suppress(TextRefused):
            _keep([passage], embedding.embed([text], BATCH_SECONDS))
            logger.info("of passage %d, the first %d characters are embedded", passage.pk, length)
            return 1
    logger.warning("passage %d can be found by words only: %s", passage.pk, error)
    return 0


def _keep(batch: Sequence[Passage], embedded: Embedded) -> None:
    """Store vectors, one transaction per collection, so that no lock waits for another."""
    vectors_of = dict(zip(batch, embedded.vectors, strict=True))
    by_collection = sorted(batch, key=lambda passage: passage.collection_id)
    for collection_id, group in groupby(by_collection, lambda passage: passage.collection_id):
        ids = [passage.pk for passage in group]
        with limits.transaction():
            storing.lock([collection_id])
            still_there = Passage.objects.filter(pk__in=ids, collection=collection_id)
            found = {passage: vectors_of[passage] for passage in still_there.defer("words")}
            vectors.add(collection_id, embedded.space, found)


def forget_vectors() -> None:
    """Make every passage pending for the configured model."""
    if space := vectors.space_of(embedding.model()):
        _clear(space)


def forget_other_spaces() -> list[str]:
    """Remove the vectors of other models; return the names of their spaces."""
    space = vectors.space_of(embedding.model())
    others = list(Space.objects.exclude(name=space).values_list("name", flat=True))
    for other in others:
        _clear(other)
        vectors.drop_space(other)
    return others


def _clear(space: str) -> None:
    for collection in Collection.objects.order_by("pk"):
        with limits.transaction():
            storing.lock([collection.pk])
            vectors.clear(collection.pk, space)

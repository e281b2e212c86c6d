"""Embeds texts with the configured backend."""

import hashlib
import logging
import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache
from threading import Event

from django.conf import settings
from django.core.cache.backends.locmem import LocMemCache
from django.db import connection, transaction

from contextd import notes, telemetry
from contextd.search.embedding.backends import (
    MAX_DIMENSIONS,
    Backend,
    EmbeddingUnavailable,
    TextRefused,
    Vector,
)
from contextd.search.embedding.local import LocalBackend

__all__ = [
    "Embedded",
    "EmbeddingUnavailable",
    "TextRefused",
    "Vector",
    "begin_query",
    "embed",
    "expected_space",
    "is_warm",
    "model",
    "warm_up",
]

# The runtime of the model would report its use to Microsoft; it reads this when it is imported.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

QUERIES_KEPT = 500
MAX_CONCURRENT_QUERIES = 32
WARM_UP_SECONDS = 60

logger = logging.getLogger(__name__)
_warm = Event()
_spaces: dict[str, str] = {}
_queries = LocMemCache("search-queries", {"OPTIONS": {"MAX_ENTRIES": QUERIES_KEPT}})


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors, and the name of the space in which they can be compared."""

    space: str
    vectors: list[Vector]


def embed(texts: Sequence[str], timeout: float) -> Embedded:
    """Return one vector per text. Raise EmbeddingUnavailable; RuntimeError in a transaction."""
    _refuse_open_transaction()
    backend = _backend()
    with telemetry.timed("embedding", backend=backend.kind):
        vectors = backend.embed(texts, timeout)
    dimensions = len(vectors[0])
    if dimensions > MAX_DIMENSIONS:
        raise EmbeddingUnavailable(
            f"{backend.model} makes vectors of {dimensions} numbers, at most {MAX_DIMENSIONS} can "
            "be stored: choose another EMBEDDING_MODEL"
        )
    space = _spaces[backend.model] = f"{backend.model}:{dimensions}"
    return Embedded(space, vectors)


def begin_query(query: str, timeout: float) -> "Future[Embedded]":
    """Start to embed in the background; recent queries are cached."""
    _refuse_open_transaction()
    backend = _backend()
    key = hashlib.blake2b(f"{backend.kind}\0{backend.model}\0{query}".encode()).hexdigest()
    remembered: Embedded | None = _queries.get(key)
    notes.looked_up(key, cached=remembered is not None)
    if remembered is not None:
        known: Future[Embedded] = Future()
        known.set_result(remembered)
        return known

    def answer() -> Embedded:
        embedded = embed([query], timeout)
        _queries.set(key, embedded)
        return embedded

    return _threads().submit(copy_context().run, answer)


def expected_space() -> str | None:
    """Return the space of the latest vectors of this process, and so of the next ones."""
    return _spaces.get(_backend().model)


def model() -> str:
    """Return the name of the embedding model."""
    return _backend().model


def warm_up() -> None:
    """Load the model before the first caller has to wait for it."""
    try:
        embed(["ready"], WARM_UP_SECONDS)
    except EmbeddingUnavailable as error:
        logger.warning("searches use words alone for now: %s", error)
    _warm.set()


def is_warm() -> bool:
    return _warm.is_set()


def _backend() -> Backend:
    environment = settings.ENVIRONMENT
    if environment.embedding_base_url is None:
        return _local()
    return _remote(
        environment.embedding_base_url, environment.embedding_model, environment.embedding_api_key
    )


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_CONCURRENT_QUERIES, thread_name_prefix="embedding")


@cache
def _local() -> LocalBackend:
    return LocalBackend(settings.DATA_DIR / "models")


@cache
def _remote(base_url: str, model: str, api_key: str) -> Backend:
    from contextd.search.embedding.remote import RemoteBackend

    return RemoteBackend(base_url, model, api_key)


def _refuse_open_transaction() -> None:
    """Raise RuntimeError in a transaction: durable blocks nest only in test cases."""
    if connection.in_atomic_block:
        try:
            with transaction.atomic(durable=True):
                pass
        except RuntimeError as error:
            raise RuntimeError(
                "embedding may take seconds: do it before the transaction opens"
            ) from error

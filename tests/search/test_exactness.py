"""Two steps, gather and rank, against rating each and every passage."""

import random
from statistics import mean

import pytest

from contextd import search
from contextd.search import candidates, embedding, finding, scope
from contextd.search.models import Passage
from contextd.search.ranking import RECIPE, best_of_records
from tests.search.conftest import DOMAIN, Find, ids
from tests.search.embedding_server import EmbeddingServer

MANY = 500
LIMIT = 10


@pytest.fixture
def queries(server: EmbeddingServer, db: None) -> list[str]:
    """Texts of words as unevenly spread as in a language, and queries made in the same way."""
    choose = random.Random(7)  # noqa: S311  (the same texts each time)
    words = [f"word{number}" for number in range(3000)]
    weights = [1 / (rank + 3) for rank in range(len(words))]

    def text(length: int) -> str:
        return " ".join(choose.choices(words, weights, k=length))

    texts = [(text(6), text(choose.randint(10, 60))) for _ in range(MANY)]
    search.store_many(DOMAIN, None, dict(enumerate(search.prepare_many(texts))))
    return [text(choose.choice([3, 8, 40])) for _ in range(30)]


def best_of_all(query: str) -> list[int]:
    embedded = embedding.embed([query], 20)
    asked = candidates.asked_in(DOMAIN, query)
    where = scope.look_in(
        DOMAIN, None, shared=True, records=None, space=embedded.space, words=asked
    )
    words = candidates.asked_words(where, asked)
    every = set(Passage.objects.values_list("pk", flat=True))
    rated = finding._rate(where, every, words, embedded.vectors[0])
    hits = finding._hits(rated, query, RECIPE, LIMIT, best_of_records)
    return [hit.record_id for hit in hits]


def share_of_best_found(find: Find, queries: list[str]) -> float:
    return mean(
        len({*best_of_all(query)} & {*ids(find(query, limit=LIMIT))}) / LIMIT for query in queries
    )


def test_the_best_are_found(queries: list[str], find: Find) -> None:
    assert share_of_best_found(find, queries) > 0.98


def test_most_of_the_best_are_found_when_only_a_tenth_of_the_postings_is_read(
    queries: list[str], find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "MAX_POSTINGS", 200)
    monkeypatch.setattr(candidates, "EXACT_PER_ROOT", 0)

    assert share_of_best_found(find, queries) > 0.85

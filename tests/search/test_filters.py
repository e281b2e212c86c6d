"""What may be found is decided before the best are chosen, by the index or without it."""

import random

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from contextd import search
from contextd.models import Project
from contextd.search import candidates
from contextd.search.ranking import Weights
from tests.search.conftest import DOMAIN, Find, Save, ids
from tests.search.embedding_server import EmbeddingServer

MANY = 1000
SELDOM = 100
QUERY = "invoice paid in time"


@pytest.fixture
def people(server: EmbeddingServer, db: None) -> None:
    """Users stand for records. One in a hundred is staff, and fits worse than all the others."""
    choose = random.Random(1)  # noqa: S311  (the same texts each time)
    words = ["paid", "late", "sent", "due", "time", "open", "customer", "ledger", "tax", "total"]
    users = [User(pk=n + 1, username=f"user{n}", is_staff=n % SELDOM == 0) for n in range(MANY)]
    User.objects.bulk_create(users)
    texts = [
        ("Garden", "roses and tulips invoice")
        if user.is_staff
        else ("Invoice", " ".join(["invoice", *choose.sample(words, 5)]))
        for user in users
    ]
    prepared = search.prepare_many(texts)
    search.store_many(DOMAIN, None, {user.pk: p for user, p in zip(users, prepared, strict=True)})
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE search_embedding")


@pytest.fixture(params=["exactly", "by the index"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether all vectors are compared depends on their number; here it is set."""
    monkeypatch.setattr(candidates, "EXACT_PER_ROOT", 1e9 if request.param == "exactly" else 0)
    way: str = request.param
    return way


def test_a_filter_that_few_records_pass_costs_no_result(people: None, way: str, find: Find) -> None:
    staff = User.objects.filter(is_staff=True)
    found = find(QUERY, records=staff, limit=MANY // SELDOM)

    assert sorted(ids(found)) == sorted(staff.values_list("pk", flat=True))
    assert all(hit.cosine is not None for hit in found.hits)


def test_a_filter_is_applied_to_words_too(people: None, way: str, find: Find) -> None:
    staff = User.objects.filter(is_staff=True)
    words_only = Weights(meaning=0, headline=0)
    found = find("invoice", records=staff, limit=MANY // SELDOM, weights=words_only)

    assert len(found.hits) == MANY // SELDOM
    assert all(hit.lexical > 0 for hit in found.hits)


def test_a_filter_that_nothing_passes_finds_nothing(people: None, way: str, find: Find) -> None:
    assert not find(QUERY, records=User.objects.none()).hits
    assert not find(QUERY, records=User.objects.filter(username="nobody")).hits


def test_many_may_be_asked_for(people: None, way: str, find: Find) -> None:
    assert len(set(ids(find(QUERY, limit=500)))) == 500


def test_the_index_finds_what_comparing_all_finds(
    people: None, find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = find(QUERY, limit=20)
    monkeypatch.setattr(candidates, "EXACT_PER_ROOT", 0)
    with CaptureQueriesContext(connection) as captured:
        indexed = find(QUERY, limit=20)

    assert [round(hit.score, 3) for hit in indexed.hits] == [
        round(hit.score, 3) for hit in exact.hits
    ]
    assert "search_near_" in plan_of(captured)


def plan_of(captured: CaptureQueriesContext) -> str:
    """How Postgres runs the search for the nearest vectors."""
    (nearest,) = (q["sql"] for q in captured if "halfvec(" in q["sql"] and "ORDER BY" in q["sql"])
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + nearest[nearest.index("SELECT") :])
        return "\n".join(line for (line,) in cursor.fetchall())


def test_records_are_found_only_in_the_projects_that_are_searched(
    server: EmbeddingServer, save: Save, find: Find
) -> None:
    shop, bank = (Project.objects.create(name=name) for name in ("shop", "bank"))
    save(1, "Invoice of the shop", project=shop)
    save(2, "Invoice of the bank", project=bank)
    save(3, "Invoice of everybody")

    def found(projects: set[int] | None, *, shared: bool) -> set[int]:
        within = None if projects is None else frozenset(projects)
        return set(ids(find("invoice", projects=within, shared=shared)))

    assert found({shop.pk}, shared=False) == {1}
    assert found({shop.pk}, shared=True) == {1, 3}
    assert found({shop.pk, bank.pk}, shared=False) == {1, 2}
    assert found(set(), shared=False) == set()
    assert found(set(), shared=True) == {3}
    assert found(None, shared=True) == {1, 2, 3}
    assert found(None, shared=False) == {1, 2}

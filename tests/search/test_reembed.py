"""`manage.py reembed`: another model, or repair."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from contextd import search
from contextd.search import backlog, terms, vectors
from contextd.search.models import Coverage, Embedding, TermCount
from tests.search.conftest import DOMAIN, Find, UseServer, ids
from tests.search.embedding_server import EmbeddingServer, failing, running
from tests.search.test_store import assert_counts_are_exact

MANY = 50


@pytest.fixture
def stored(server: EmbeddingServer, transactional_db: None) -> None:
    texts = [("Fleet", f"automobile number{number}") for number in range(MANY)]
    search.store_many(DOMAIN, None, dict(enumerate(search.prepare_many(texts))))


def reembed(capsys: pytest.CaptureFixture[str], **options: Any) -> str:
    call_command("reembed", **options)
    return capsys.readouterr().out


def test_another_model_embeds_all_beside_the_old_one_and_then_replaces_it(
    stored: None, use_server: UseServer, find: Find, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(EmbeddingServer(dimensions=48)) as other:
        use_server(other.base_url, model="other-model")
        before = find("car")
        assert before.pending == MANY
        assert all(hit.cosine is None for hit in before.hits)

        told = reembed(capsys)

        assert f"{MANY} passages embedded by other-model" in told
        after = find("car")
        assert after.pending == 0
        assert all(hit.cosine and hit.cosine > 0 for hit in after.hits)
        assert set(Coverage.objects.values_list("space", "passages")) == {
            ("test-model:32", MANY),
            ("other-model:48", MANY),
        }
        assert "The vectors of test-model:32 have been deleted" in reembed(capsys, prune=True)
        assert set(Embedding.objects.values_list("space", flat=True)) == {"other-model:48"}
        assert vectors.index_name("other-model:48") in indexes()
        assert vectors.index_name("test-model:32") not in indexes()
        assert_counts_are_exact()


def indexes() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname FROM pg_indexes WHERE indexname LIKE 'search_near_%'")
        return {name for (name,) in cursor.fetchall()}


def test_while_the_new_model_embeds_servers_with_the_old_one_miss_nothing(
    stored: None, server: EmbeddingServer, use_server: UseServer, find: Find
) -> None:
    with running(EmbeddingServer(dimensions=48)) as other:
        use_server(other.base_url, model="other-model")
        search.embed_pending()
    use_server(server.base_url)

    assert find("car").pending == 0


def test_a_model_is_not_taken_for_another_whose_name_begins_alike(db: None) -> None:
    vectors.ensure_space("nomic:latest:3")
    assert vectors.space_of("nomic") is None

    vectors.ensure_space("nomic:3")
    vectors.ensure_space("nomic:4")
    assert vectors.space_of("nomic") == "nomic:4"
    assert vectors.space_of("nomic:latest") == "nomic:latest:3"


def test_all_of_it_can_be_embedded_again(
    stored: None, server: EmbeddingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.requests.clear()
    told = reembed(capsys, all=True)

    assert f"{MANY} passages embedded" in told
    assert len([text for text in server.texts if text != "ready"]) == MANY
    assert_counts_are_exact()


def test_with_nothing_to_do_it_does_nothing(
    stored: None, server: EmbeddingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.requests.clear()

    assert "0 passages embedded" in reembed(capsys)
    assert not server.requests


def test_stopped_half_way_it_goes_on_from_there(
    stored: None, server: EmbeddingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    backlog.forget_vectors()
    server.next_answers.extend([server.embeddings, server.embeddings, failing(404)])
    with pytest.raises(CommandError, match=r"answers 404.*run it again"):
        call_command("reembed")
    assert Embedding.objects.count() == backlog.BATCH
    forgive(server)

    assert f"{MANY - backlog.BATCH} passages embedded" in reembed(capsys)


def forgive(server: EmbeddingServer) -> None:
    """As if the pause after a failure were over."""
    from contextd.search import embedding
    from contextd.search.embedding.remote import RemoteBackend

    backend = embedding._backend()
    assert isinstance(backend, RemoteBackend)
    backend._down_until = 0


def test_it_follows_a_worker_that_is_at_it_already(
    stored: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    backlog.forget_vectors()
    worker = backlog.embed_batches()
    next(worker)
    monkeypatch.setattr("time.sleep", lambda seconds: list(worker))

    assert f"{MANY - backlog.BATCH} passages embedded" in reembed(capsys)


def test_what_cannot_be_embedded_is_said(
    stored: None, server: EmbeddingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    search.store(DOMAIN, MANY, None, search.cut("refused"))
    server.next_answers.extend([server.embeddings, failing(413)])

    with pytest.raises(CommandError, match="1 passages are still not embedded"):
        call_command("reembed")


def test_repair_makes_anew_whatever_was_lost_or_is_too_much(
    stored: None, find: Find, capsys: pytest.CaptureFixture[str]
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM search_posting WHERE passage_id % 2 = 0")
        cursor.execute("DELETE FROM search_embedding WHERE passage_id % 3 = 0")
        cursor.execute("UPDATE search_termcount SET passages = 7")
        cursor.execute("UPDATE search_collection SET passages = 7")
        cursor.execute("UPDATE search_coverage SET passages = 7")
        cursor.execute(
            "INSERT INTO search_posting (term, weight, collection_id, passage_id)"
            "SELECT 1, 2.2, id, 2000000000 FROM search_collection"
        )
    reembed(capsys, repair=True)

    assert_counts_are_exact()
    assert find("car").pending == 0
    assert ids(find("number33"))[0] == 33


def test_repair_applies_other_rules_for_words(
    stored: None, find: Find, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terms, "STOP_WORDS", frozenset({"fleet"}))
    terms._terms_of.cache_clear()
    reembed(capsys, repair=True)
    terms._terms_of.cache_clear()

    assert terms.number(DOMAIN, "fleet") not in set(
        TermCount.objects.values_list("term", flat=True)
    )
    assert_counts_are_exact()

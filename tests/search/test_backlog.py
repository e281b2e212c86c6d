"""Passages without a vector, and how they get one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from contextd import jobs, search
from contextd.search import backlog, leases, vectors
from contextd.search.models import Embedding, Passage, Space
from contextd.search.storing import EMBED_PENDING
from tests.search.conftest import DOMAIN, Find, Save, UseServer, ids
from tests.search.embedding_server import Answer, EmbeddingServer, failing

MANY = 2 * backlog.BATCH + 6


@pytest.fixture
def pending(server: EmbeddingServer, db: None) -> None:
    texts = {number: search.cut(f"automobile number{number}") for number in range(MANY)}
    search.store_many(DOMAIN, None, texts)


def test_a_save_goes_on_without_the_backend_and_is_found_by_its_words(
    no_backend: None, save: Save, find: Find
) -> None:
    save(1, "The automobile broke down")
    found = find("automobile")

    assert ids(found) == [1]
    assert found.hits[0].cosine is None
    assert found.hits[0].distance is None
    assert not found.by_meaning
    assert found.notice == "The embedding backend does not answer: found by words alone."


def test_what_was_saved_without_the_backend_is_found_by_meaning_later(
    use_server: UseServer, server: EmbeddingServer, save: Save, find: Find
) -> None:
    save(1, "Nothing about that")
    use_server("http://127.0.0.1:9/v1")
    save(2, "The automobile broke down")
    use_server(server.base_url)

    before = find("car")
    assert before.pending == 1
    assert before.notice == "Passages that are not embedded yet, so found by words alone: 1."
    assert search.embed_pending() == 1
    after = find("car")
    assert ids(after) == [2, 1]
    assert after.notice is None


def test_what_is_not_embedded_yet_does_not_lose_to_what_has_nothing_to_do_with_it(
    use_server: UseServer, server: EmbeddingServer, save: Save, find: Find
) -> None:
    save(1, "automobile")
    use_server("http://127.0.0.1:9/v1")
    save(2, "Nightly", "the car broke down")
    use_server(server.base_url)

    assert ids(find("car broke", headline="")) == [2, 1]


def test_a_save_that_could_not_embed_asks_a_worker_to(
    no_backend: None,
    save: Save,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks() as deferred:
        save(1, "The automobile broke down")

    assert asked_for(deferred) == [EMBED_PENDING]


def asked_for(deferred: list[Callable[[], Any]]) -> list[str]:
    """The tasks that are queued when the transaction commits."""
    return [call.args[0] for call in deferred if isinstance(call, partial)]


def test_all_is_embedded_the_newest_first(pending: None, server: EmbeddingServer) -> None:
    assert search.embed_pending() == MANY

    embedded = [text for text in server.texts if text != "ready"]
    assert embedded == [f"automobile number{number}" for number in reversed(range(MANY))]
    assert backlog.count_pending() == 0


def test_a_long_backlog_is_left_to_the_next_run(
    pending: None,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    monkeypatch.setattr(backlog, "RUN_SECONDS", 0)
    with django_capture_on_commit_callbacks() as deferred:
        assert search.embed_pending() == backlog.BATCH

    assert asked_for(deferred) == [EMBED_PENDING]
    assert backlog.count_pending() == MANY - backlog.BATCH
    assert search.embed_pending() == backlog.BATCH


def test_a_job_that_runs_goes_first(pending: None, server: EmbeddingServer) -> None:
    embedded: list[int] = []
    job, _ = jobs.submit("contextd.tasks.end_idle_sessions", "x", {}, "tester", queued=False)

    def embed_meanwhile(hold: jobs.Hold) -> dict[str, Any]:
        embedded.append(search.embed_pending())
        return {}

    jobs.work(job.pk, embed_meanwhile)

    assert embedded == [0]
    assert search.embed_pending() == MANY


def test_nothing_pending_asks_nothing_of_the_backend(server: EmbeddingServer, db: None) -> None:
    assert search.embed_pending() == 0
    assert not server.requests


def test_two_workers_do_not_do_the_same_work(pending: None, server: EmbeddingServer) -> None:
    first = backlog.embed_batches()
    next(first)

    assert search.embed_pending() == 0
    first.close()
    assert search.embed_pending() == MANY - backlog.BATCH
    embedded = [text for text in server.texts if text != "ready"]
    assert len(embedded) == len(set(embedded)) == MANY


def test_the_work_of_a_worker_that_died_is_taken_up(pending: None, server: EmbeddingServer) -> None:
    space = f"test-model:{server.dimensions}"
    vectors.ensure_space(space)
    assert leases.Lease(space).take()
    assert search.embed_pending() == 0

    Space.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert search.embed_pending() == MANY


def test_a_lease_that_another_worker_took_over_is_noticed(db: None) -> None:
    vectors.ensure_space("test-model:3")
    late, next_one = leases.Lease("test-model:3"), leases.Lease("test-model:3")
    late.take()
    Space.objects.update(leased_until=timezone.now() - timedelta(seconds=1))

    assert next_one.take()
    assert not late.renew()
    late.give_back()
    assert next_one.renew()


def test_a_backend_that_fails_half_way_loses_nothing(
    pending: None, server: EmbeddingServer
) -> None:
    server.next_answers.extend([server.embeddings, server.embeddings, failing(404)])

    assert search.embed_pending() == backlog.BATCH
    assert Embedding.objects.count() == backlog.BATCH


def test_one_text_that_the_backend_refuses_does_not_hold_up_the_others(
    pending: None, server: EmbeddingServer, find: Find
) -> None:
    with refusing(server, lambda text: text == "automobile number7"):
        assert search.embed_pending() == MANY - 1

    assert backlog.count_pending() == 1
    assert ids(find("number7"))[0] == 7


@pytest.mark.django_db
def test_a_text_that_is_too_long_for_the_backend_is_found_by_its_beginning(
    server: EmbeddingServer, find: Find
) -> None:
    search.store(DOMAIN, 1, None, search.cut("The automobile broke down " + "on the road " * 20))

    with refusing(server, lambda text: len(text) > 100):
        assert search.embed_pending() == 1

    assert backlog.count_pending() == 0
    assert find("car").hits[0].cosine is not None
    assert max(map(len, server.texts[-1:])) <= 100


@contextmanager
def refusing(server: EmbeddingServer, is_refused: Callable[[str], bool]) -> Iterator[None]:
    def answer(request: dict[str, dict[str, list[str]]]) -> Answer:
        server.next_answers.append(answer)
        if any(map(is_refused, request["body"]["input"])):
            return 413, {}, b"{}"
        return server.embeddings(request)

    server.next_answers.append(answer)
    yield
    server.next_answers.clear()


def test_a_passage_that_is_deleted_meanwhile_stays_deleted(
    pending: None, server: EmbeddingServer
) -> None:
    space = f"test-model:{server.dimensions}"
    vectors.ensure_space(space)
    batch = next(backlog._batches(space))
    search.forget(DOMAIN, [batch[0].record_id])

    assert backlog._embed(batch) == backlog.BATCH
    assert not Passage.objects.filter(pk=batch[0].pk).exists()
    assert Embedding.objects.count() == backlog.BATCH - 1

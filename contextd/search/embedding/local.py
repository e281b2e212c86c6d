"""The embedding model that runs in this process and needs no network."""

import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from contextd.search.embedding import tokenizer
from contextd.search.embedding.backends import EmbeddingUnavailable, Vector

if TYPE_CHECKING:
    import numpy as np
    import onnxruntime
    from numpy.typing import NDArray

MODEL = "all-MiniLM-L6-v2"
MOST_TEXTS = 16
MOST_BATCH_TOKENS = 2048

Batch = list[int]


class LocalBackend:
    """all-MiniLM-L6-v2 by onnxruntime; nothing is loaded before the first text comes."""

    kind = "local"
    model = MODEL

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loading = Lock()

    def embed(self, texts: Sequence[str], timeout: float) -> list[Vector]:
        import numpy as np

        give_up_at = time.monotonic() + timeout
        ids = tokenizer.token_ids(texts)
        vectors = np.empty((len(ids), 384), np.float32)
        for batch in _batches(ids):
            if time.monotonic() > give_up_at:
                raise EmbeddingUnavailable(f"{len(texts)} texts took longer than {timeout:.0f} s")
            vectors[batch] = self._run([ids[i] for i in batch])
        return [vector.tolist() for vector in vectors]

    def _run(self, ids: list[list[int]]) -> "NDArray[np.float32]":
        """The mean of the tokens' vectors, scaled to length one."""
        import numpy as np

        tokens = np.zeros((len(ids), max(map(len, ids))), np.int64)
        mask = np.zeros_like(tokens)
        for row, sequence in enumerate(ids):
            tokens[row, : len(sequence)] = sequence
            mask[row, : len(sequence)] = 1
        inputs = {
            "input_ids": tokens,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(tokens),
        }
        (states,) = self._loaded().run(None, inputs)
        summed = (states * mask[..., None]).sum(axis=1)
        scaled: NDArray[np.float32] = summed / np.linalg.norm(summed, axis=1, keepdims=True)
        return scaled

    def _loaded(self) -> "onnxruntime.InferenceSession":
        with self._loading:
            return self._session

    @cached_property
    def _session(self) -> "onnxruntime.InferenceSession":
        from contextd.search.embedding import graph

        return graph.open_session(self._folder)


def _batches(ids: list[list[int]]) -> Iterator[Batch]:
    """Texts of like length together, since all are padded to the longest."""
    batch: Batch = []
    for i in sorted(range(len(ids)), key=lambda i: len(ids[i])):
        if len(batch) == MOST_TEXTS or len(ids[i]) * (len(batch) + 1) > MOST_BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch

"""The interface of embedding backends."""

from collections.abc import Sequence
from typing import Protocol

MAX_DIMENSIONS = 4000
"""An index of pgvector holds no longer vectors."""

Vector = list[float]


class EmbeddingUnavailable(Exception):
    """The backend returned no usable vectors; the message says why and what to check."""


class TextRefused(EmbeddingUnavailable):
    """The backend works, but rejects one of these texts."""


class Backend(Protocol):
    """Returns vectors of length one; safe to use from several threads."""

    @property
    def kind(self) -> str: ...

    @property
    def model(self) -> str: ...

    def embed(self, texts: Sequence[str], timeout: float) -> list[Vector]:
        """Return one vector per text, in order. Raise EmbeddingUnavailable."""
        ...

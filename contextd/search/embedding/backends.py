"""What an embedding backend is."""

from collections.abc import Sequence
from typing import Protocol

Vector = list[float]


class EmbeddingUnavailable(Exception):
    """The backend gave no usable vectors; the message says why and what to look at."""


class TextRefused(EmbeddingUnavailable):
    """The backend works, but does not take one of these texts."""


class Backend(Protocol):
    """Makes vectors of length one; safe to use from several threads."""

    @property
    def kind(self) -> str: ...

    @property
    def model(self) -> str: ...

    def embed(self, texts: Sequence[str], timeout: float) -> list[Vector]:
        """One vector a text, in their order; raises EmbeddingUnavailable."""
        ...

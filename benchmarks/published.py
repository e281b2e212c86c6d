"""A baseline from a published specification: 70 % cosine and 30 % edit similarity.

Each whole text is embedded once, unchanged, and every record is compared with every query.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from contextd.search.embedding.local import LocalBackend

NAME = "70 % cosine, 30 % edit distance"
MEANING, WORDING = 0.7, 0.3
Scores = NDArray[np.float32]
R = TypeVar("R")


@dataclass(frozen=True)
class Side:
    """Queries or records: the texts that are embedded, and those compared by edit distance."""

    texts: Sequence[str]
    lines: Sequence[str]


@dataclass(frozen=True)
class Rated:
    """Cosine, edit similarity and their combination for each query (row) and record (column)."""

    semantic: Scores
    string: Scores

    @property
    def match(self) -> Scores:
        weighed: Scores = MEANING * self.semantic + WORDING * self.string
        return weighed


def rate(asked: Side, stored: Side, models: Path) -> Rated:
    """Return edit similarities: 1 - distance / length, ignoring case."""
    backend = LocalBackend(models)
    questions, answers = (
        np.asarray(backend.embed(side.texts, math.inf), np.float32) for side in (asked, stored)
    )
    string = process.cdist(
        [line.lower() for line in asked.lines],
        [line.lower() for line in stored.lines],
        scorer=Levenshtein.normalized_similarity,
        dtype=np.float32,
    )
    return Rated(questions @ answers.T, string)


def best(scores: Scores, records: Sequence[R], limit: int) -> list[tuple[R, float]]:
    """Return the records of one query with their scores, the best first."""
    return [(records[i], float(scores[i])) for i in np.argsort(-scores, kind="stable")[:limit]]

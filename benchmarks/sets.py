"""The evaluation sets: texts to store, queries to ask, which texts should be found."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Any

from benchmarks.server import ROOT

EVAL = Path(os.environ.get("CONTEXTD_EVAL_DIR", ROOT.parent / "shared" / "eval"))


@dataclass(frozen=True)
class Query:
    """A query; `error` is the line with the error and `repo` the scope, if the set has them."""

    id: str
    subset: str
    text: str
    relevant: Mapping[str, int]
    error: str = ""
    repo: str = ""


@dataclass(frozen=True)
class Quality:
    """Means over queries; `mrr` and `ndcg` consider the first ten."""

    recall_1: float
    recall_5: float
    recall_10: float
    mrr: float
    ndcg: float


def read(name: str) -> list[dict[str, Any]]:
    path = EVAL / name
    if not path.exists():
        raise SystemExit(f"no evaluation set at {path}; set CONTEXTD_EVAL_DIR")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def queries(name: str) -> list[Query]:
    return [
        Query(
            id=row["qid"],
            subset=row["subset"],
            text=row["text"],
            relevant=row["rel"],
            error=row.get("error", ""),
            repo=row.get("repo", ""),
        )
        for row in read(name)
        if row["split"] == "dev"
    ]


def quality(rankings: Iterable[tuple[Query, Sequence[str]]]) -> Quality:
    rows = [_of_one(query.relevant, ranking[:10]) for query, ranking in rankings]
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    return Quality(*means)


def _of_one(relevant: Mapping[str, int], ranking: Sequence[str]) -> tuple[float, ...]:
    hits = [record in relevant for record in ranking]
    gains = [hit / log2(place + 2) for place, hit in enumerate(hits)]
    ideal = sum(1 / log2(place + 2) for place in range(min(len(relevant), 10)))
    first = next((1 / (place + 1) for place, hit in enumerate(hits) if hit), 0.0)
    recalls = (sum(hits[:depth]) / len(relevant) for depth in (1, 5, 10))
    return (*recalls, first, sum(gains) / ideal)


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

"""Filters relevant hits and joins them with their records."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from contextd.search import finding, registry
from contextd.search.finding import Found, Hit

DEEPER = 20
"""Factor of records to read if the sources of some of the best ones have been deleted."""

MIN_SCORE = 0.15
MIN_SCORE_BY_WORDS = 0.05
"""Minimum score of a hit without a vector, which lacks half of its score."""

MIN_SHARE = 0.5
"""Share of the best score: a hit far below it only shares a word with the query."""

NOISE = 0.1
"""Minimum score: four of five unrelated notes score less, and at most 2 % of the right answers,
measured with all-MiniLM-L6-v2 on 150 queries about notes and 95 about code of the evaluation
sets."""

Record = TypeVar("Record", bound=Model)


def find_existing(
    query: str,
    *,
    domain: str,
    projects: frozenset[int] | None,
    records: "QuerySet[Any] | None",
    limit: int,
) -> Found:
    """Search as `find` does, without records whose source has been deleted."""
    for most in (limit, DEEPER * limit):
        found = finding.find(query, domain=domain, projects=projects, records=records, limit=most)
        existing = set(registry.existing(domain, [hit.record_id for hit in found.hits]))
        hits = [hit for hit in found.hits if hit.record_id in existing][:limit]
        if len(hits) == limit or len(found.hits) < most:
            break
    return replace(found, hits=hits)


def with_records(hits: Sequence[Hit], records: "QuerySet[Record]") -> list[tuple[Hit, Record]]:
    """Pair each hit with its record; records deleted in the meantime are left out."""
    found = records.in_bulk([hit.record_id for hit in hits])
    return [(hit, found[hit.record_id]) for hit in hits if hit.record_id in found]


def relevant(hits: Sequence[Hit], best: float, share: float = MIN_SHARE) -> list[Hit]:
    """Return the hits that are close enough to the best score to be worth reading.

    `share` is the part of it that a hit with a vector needs.
    """
    return [hit for hit in hits if hit.score >= _least(hit, best, share)]


def _least(hit: Hit, best: float, share: float) -> float:
    if hit.cosine is None:
        return max(MIN_SCORE_BY_WORDS, MIN_SHARE * best)
    return max(MIN_SCORE, share * best)

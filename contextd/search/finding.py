"""Finds records by words and meaning."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Any, NamedTuple

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from pgvector import SparseVector

from contextd import limits, notes, telemetry
from contextd.search import candidates, embedding, scope, terms, vectors
from contextd.search.candidates import Word
from contextd.search.embedding import Embedded, EmbeddingUnavailable, Vector
from contextd.search.models import TERM_SPACE, Collection, Coverage, Passage
from contextd.search.ranking import (
    RECIPE,
    Choose,
    Rated,
    Weights,
    best_of_records,
    best_passages,
    within_reach,
)
from contextd.search.scope import Scope

QUERY_SECONDS = 20
SHARE_FOR_EMBEDDING = 0.5
DEPTHS = (1, 8, 64)
"""Factors for how deep each attempt looks, if the previous one found too few records."""

RATE = """
SELECT passage.id, passage.record_id,
    1 - (vector <=> %s::halfvec), -(words <#> %s::sparsevec)
FROM (SELECT id, record_id, words FROM search_passage WHERE {passages}) AS passage
LEFT JOIN search_embedding AS embedding
    ON embedding.passage_id = passage.id AND space_id = %s
"""
THESE = "id = ANY(%s)"
ALL = "collection_id = ANY(%s) {records}"
MAX_UNFILTERED_PASSAGES = 300
"""Up to this number, all passages are rated: that takes less time than to select some."""

READ_PASSAGES = """
SELECT id, headline, coalesce(nullif(text, ''), headline), first_line, last_line,
    similarity(left(headline, %(most_compared)s), %(headline)s)
FROM search_passage
WHERE id = ANY(%(passages)s)
"""
MAX_COMPARED = 300

logger = logging.getLogger(__name__)


class Text(NamedTuple):
    """The text of a passage that is among the best."""

    headline: str
    text: str
    first_line: int
    last_line: int
    trigram: float


@dataclass(frozen=True, slots=True)
class Where:
    """The scope of a search, as callers describe it."""

    domain: str
    projects: frozenset[int] | None
    shared: bool
    records: QuerySet[Any] | None

    def look(self, space: str | None, words: Iterable[int] = ()) -> Scope:
        return scope.look_in(
            self.domain,
            self.projects,
            shared=self.shared,
            records=self.records,
            space=space,
            words=words,
        )


@dataclass(frozen=True, slots=True)
class EmbeddingCoverage:
    """The number of passages, and how many of them have a vector."""

    passages: int
    embedded: int

    @property
    def pending(self) -> int:
        return self.passages - self.embedded


@dataclass(frozen=True, slots=True)
class Hit:
    """A record and its best passage; `score` and its parts range from 0 to 1."""

    record_id: int
    headline: str
    text: str
    first_line: int
    last_line: int
    score: float
    cosine: float | None
    lexical: float
    trigram: float

    @property
    def distance(self) -> float | None:
        return None if self.cosine is None else 1 - self.cosine


@dataclass(frozen=True, slots=True)
class Found:
    """Hits, the best first; `pending` passages in the scope have no vector yet."""

    hits: list[Hit]
    pending: int
    by_meaning: bool

    @property
    def notice(self) -> str | None:
        """A remark for readers on how complete the results are."""
        if not self.by_meaning:
            return "The embedding backend does not answer: found by words alone."
        if self.pending:
            return f"Passages that are not embedded yet, so found by words alone: {self.pending}."
        return None


def find(
    query: str,
    *,
    domain: str,
    projects: frozenset[int] | None,
    shared: bool = True,
    records: QuerySet[Any] | None = None,
    limit: int,
    headline: str | None = None,
    weights: Weights = RECIPE,
) -> Found:
    """Return the best records, at most one hit each. Call it outside of transactions.

    `projects` is None for all of them, `shared` adds records without a project, `records` are those
    of the domain that may be found. `headline` is compared with the records' headlines; the query
    is the default.
    """
    return _search(
        query,
        Where(domain, projects, shared, records),
        limit=limit,
        headline=headline or query,
        weights=weights,
        choose=best_of_records,
    )


def find_passages(
    query: str,
    *,
    domain: str,
    projects: frozenset[int] | None,
    records: QuerySet[Any] | None = None,
    limit: int,
    weights: Weights = RECIPE,
) -> Found:
    """Return the best passages, as `find` does, but without grouping them by record."""
    return _search(
        query,
        Where(domain, projects, False, records),
        limit=limit,
        headline=query,
        weights=weights,
        choose=best_passages,
    )


def coverage(domain: str, projects: Iterable[int]) -> dict[int, EmbeddingCoverage]:
    """Return by project how many passages can be found by words, and how many also by meaning."""
    of_model = Coverage.objects.filter(space=vectors.space_of(embedding.model()))
    covered = of_model.filter(collection=OuterRef("pk")).values("passages")
    counts = Collection.objects.filter(domain=domain, project__in=set(projects)).values_list(
        "project", "passages", Coalesce(Subquery(covered), 0)
    )
    return {project: EmbeddingCoverage(stored, embedded) for project, stored, embedded in counts}


def texts(domain: str, record_id: int) -> list[str]:
    """Return the texts of a record's passages, in order."""
    own = Passage.objects.filter(collection__domain=domain, record_id=record_id)
    return list(own.order_by("ordinal").values_list("text", flat=True))


def passages_of(domain: str, record_id: int, most: int) -> list[Passage]:
    """Return the first passages of a record, in order, for reading."""
    own = Passage.objects.filter(collection__domain=domain, record_id=record_id)
    return list(own.only("headline", "text", "first_line", "last_line").order_by("ordinal")[:most])


class Meaning:
    """A query that is being embedded; the search waits for the vector as late as possible."""

    def __init__(self, query: str) -> None:
        # Half of the available time, so that the search by words has the rest.
        self._seconds = min(QUERY_SECONDS, SHARE_FOR_EMBEDDING * limits.time_left())
        self._asked = embedding.begin_query(query, self._seconds)

    @cached_property
    def space(self) -> str | None:
        """The space to compare it in, known before the vector is, except in the first search."""
        if expected := embedding.expected_space():
            return expected
        return self._embedded.space if self._embedded else vectors.space_of(embedding.model())

    @property
    def vector(self) -> Vector | None:
        """The vector; None if the backend does not answer, or its space has changed."""
        if self._embedded and self._embedded.space == self.space:
            return self._embedded.vectors[0]
        return None

    @cached_property
    def _embedded(self) -> Embedded | None:
        try:
            return self._asked.result(self._seconds)
        except (EmbeddingUnavailable, TimeoutError) as error:
            logger.warning("a search uses words alone: %s", error)
            return None


def _search(
    query: str, where: Where, *, limit: int, headline: str, weights: Weights, choose: Choose
) -> Found:
    if not query.strip():
        return Found([], pending=0, by_meaning=True)
    with telemetry.timed("search", domain=where.domain):
        meaning = Meaning(query)
        asked = candidates.asked_in(where.domain, query)
        looked = where.look(meaning.space, asked)
        notes.searched(where.domain, query, looked.collections, looked.passages)
        if not looked.passages:
            return Found([], pending=0, by_meaning=meaning.vector is not None)
        rated = _rated(looked, candidates.asked_words(looked, asked), meaning, limit)
        near = within_reach(rated, weights, limit, choose)
        hits = _hits(near, headline, weights, limit, choose)
    return Found(hits, looked.passages - looked.covered, meaning.vector is not None)


def _rated(where: Scope, words: Sequence[Word], meaning: Meaning, limit: int) -> list[Rated]:
    """Return the passages worth ranking, from as many records as requested if there are enough."""
    if where.passages <= MAX_UNFILTERED_PASSAGES:
        return _rate(where, None, words, meaning.vector)
    rated: list[Rated] = []
    for depth in DEPTHS:
        rich = candidates.by_words(where, words, depth)
        near = candidates.by_meaning(where, meaning.vector, limit, depth)
        rated = _rate(where, rich.passages | near.passages, words, meaning.vector)
        records = {passage.record_id for passage in rated}
        if len(records) >= limit or (rich.exhausted and near.exhausted):
            break
    return rated


def _rate(
    where: Scope, passages: set[int] | None, words: Sequence[Word], vector: Vector | None
) -> list[Rated]:
    """Rate these passages, or all if None."""
    records, of_records = where.records
    if passages is None:
        condition, parameters = ALL.format(records=records), [where.collections, *of_records]
    else:
        condition, parameters = THESE, [list(passages)]
    most = sum(word.weight for word in words) * (terms.SATURATION + 1)
    asked = [
        vectors.as_text(vector) if vector else None,
        SparseVector({word.number: word.weight for word in words}, TERM_SPACE).to_text(),
    ]
    rows = limits.rows(RATE.format(passages=condition), [*asked, *parameters, where.space])
    # A passage without a vector is treated as average, so that its words decide; if the query has
    # no words either, nothing speaks for it.
    cosines = [cosine for _, _, cosine, _ in rows if cosine is not None]
    average = fmean(cosines) if cosines else 0.0
    return [
        Rated(
            passage_id,
            record_id,
            cosine,
            lexical=min(1.0, bm25 / most) if most else 0.0,
            meaning=average,
        )
        for passage_id, record_id, cosine, bm25 in rows
        if cosine is not None or bm25 > 0
    ]


def _hits(
    near: Sequence[Rated],
    headline: str,
    weights: Weights,
    limit: int,
    choose: Choose,
) -> list[Hit]:
    texts = _read(near, headline)
    compared = [
        replace(rated, trigram=texts[rated.passage_id].trigram)
        for rated in near
        if rated.passage_id in texts
    ]
    return [
        Hit(
            record_id=rated.record_id,
            headline=texts[rated.passage_id].headline,
            text=texts[rated.passage_id].text,
            first_line=texts[rated.passage_id].first_line,
            last_line=texts[rated.passage_id].last_line,
            score=rated.score(weights),
            cosine=rated.cosine,
            lexical=rated.lexical,
            trigram=rated.trigram,
        )
        for rated in choose(compared, weights, limit)
    ]


def _read(near: Sequence[Rated], headline: str) -> dict[int, Text]:
    """Return the texts by passage; passages deleted in the meantime are missing."""
    parameters: dict[str, Any] = {
        "headline": headline[:MAX_COMPARED].replace("\0", " "),
        "most_compared": MAX_COMPARED,
        "passages": [rated.passage_id for rated in near],
    }
    return {passage_id: Text(*row) for passage_id, *row in limits.rows(READ_PASSAGES, parameters)}

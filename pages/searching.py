"""Search all kinds of records at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contextd import limits, search
from contextd.callers import Caller
from contextd.search import Domain, Found, Hit, Piece

MAX_SEARCH_SECONDS = 10
MAX_RESULTS_PER_KIND = 5
MAX_RESULTS_OF_ONE_KIND = 30
MAX_RELATED = 4


@dataclass(frozen=True, slots=True)
class Result:
    kind: str
    pk: int
    title: list[Piece]
    excerpt: list[Piece]
    belongs_to: str
    score: float


@dataclass(frozen=True, slots=True)
class Group:
    """The results of one kind, best first, and whether there are more."""

    domain: Domain
    results: list[Result]
    has_more: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """Groups, sorted by their best result; `notice` says how complete they are."""

    groups: list[Group]
    notice: str | None

    @property
    def total(self) -> int:
        return sum(len(group.results) for group in self.groups)


def everything(caller: Caller, query: str, kind: str | None = None) -> Answer:
    """Search what the caller may see, in all kinds of records or one."""
    most = MAX_RESULTS_OF_ONE_KIND if kind else MAX_RESULTS_PER_KIND
    asked = [domain for domain in search.domains() if kind in (None, "", domain.name)]
    with limits.deadline(MAX_SEARCH_SECONDS):
        found = [(domain, find(caller, query, domain, most + 1)) for domain in asked]
        groups = grouped(caller, query, [(domain, one.hits) for domain, one in found], most)
    return Answer(groups, notice_of([one for _, one in found]))


def notice_of(found: Sequence[Found]) -> str | None:
    """Return one notice for all kinds, with the sum of their pending passages."""
    pending = sum(one.pending for one in found)
    return Found([], pending, by_meaning=all(one.by_meaning for one in found)).notice


def like(caller: Caller, text: str, kind: str, pk: int) -> list[Group]:
    """Search all kinds of records by the text, excluding the record it belongs to."""
    with limits.deadline(MAX_SEARCH_SECONDS):
        found = [
            (domain, find(caller, text, domain, MAX_RELATED + 1)) for domain in search.domains()
        ]
        others = [
            (domain, [hit for hit in one.hits if (domain.name, hit.record_id) != (kind, pk)])
            for domain, one in found
        ]
        return grouped(caller, "", others, MAX_RELATED)


def grouped(
    caller: Caller, query: str, found: Sequence[tuple[Domain, Sequence[Hit]]], most: int
) -> list[Group]:
    best = max((hit.score for _, hits in found for hit in hits), default=0.0)
    groups = [
        group_of(caller, query, domain, search.relevant(hits, best), most) for domain, hits in found
    ]
    full = [group for group in groups if group.results]
    return sorted(full, key=lambda group: -group.results[0].score)


def find(caller: Caller, query: str, domain: Domain, limit: int) -> Found:
    visible = domain.visible_to(caller)
    return search.find_existing(
        query,
        domain=domain.name,
        projects=caller.projects,
        # If the caller sees all records, no filter is needed.
        records=visible if visible.query.has_filters() else None,
        limit=limit,
    )


def group_of(caller: Caller, query: str, domain: Domain, hits: Sequence[Hit], most: int) -> Group:
    shown = search.with_records(hits[:most], domain.shown_to(caller)) if hits else []
    results = [result_of(query, domain, record, hit) for hit, record in shown]
    return Group(domain, results, len(hits) > most)


def result_of(query: str, domain: Domain, record: Any, hit: Hit) -> Result:
    places = domain.relations(type(record))
    return Result(
        kind=domain.name,
        pk=record.pk,
        title=search.marked(query, str(record)),
        excerpt=search.excerpt(query, hit.text),
        belongs_to=", ".join(str(getattr(record, name) or "") for name in places),
        score=hit.score,
    )

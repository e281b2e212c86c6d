"""The most used records and the most frequent errors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, Max

from analytics import charts
from analytics.charts import Place
from analytics.tallying import Calls
from contextd import search
from contextd.callers import Caller
from remediations import services as remediations

FIXES = "remediation"
Key = tuple[str, int]
"""The kind and the id of a record."""


@dataclass(frozen=True, slots=True)
class Known:
    """A record that the caller may see."""

    kind: str
    title: str
    pk: int


@dataclass(frozen=True, slots=True)
class UsedRecord:
    record: Known
    kinds: str
    count: int


@dataclass(frozen=True, slots=True)
class FrequentError:
    """An error with its look-ups, those without a result, and the best fix found last."""

    place: Place
    fix: Known | None


def most_used(
    caller: Caller, calls: Calls, limit: int, kind: str | None = None
) -> list[UsedRecord]:
    """Return the records read, applied or rated most, while calls are kept."""
    titles = {domain.name: domain.title for domain in search.domains()}
    kinds = [kind] if kind else list(titles)
    used = calls.kept.filter(domain__in=kinds, used__isnull=False, outcome="ok").order_by()
    counted = used.values_list("domain", "used").annotate(number=Count("*"))
    ranked = counted.order_by("-number", "domain", "used")
    found: list[UsedRecord] = []
    for asked in (2 * limit, 32 * limit, None):  # more if many of the first are deleted
        most = list(ranked[:asked])
        records = known(caller, [(name, pk) for name, pk, _ in most])
        found = [
            UsedRecord(records[name, pk], titles[name], number)
            for name, pk, number in most
            if (name, pk) in records
        ]
        if len(found) >= limit or asked is None or len(most) < asked:
            break
    return found[:limit]


def errors(caller: Caller, calls: Calls, limit: int) -> list[FrequentError]:
    """Return the errors looked up most, with the result of the last search for each."""
    places = charts.top(caller, calls, "errors", limit)
    found = last_found(calls, [place.name for place in places])
    best = {query: (FIXES, ids[0]) for query, ids in found.items() if ids}
    fixes = known(caller, best.values())
    return [
        FrequentError(place, fixes.get(best[place.name]) if place.name in best else None)
        for place in places
    ]


def last_found(calls: Calls, queries: Sequence[str]) -> dict[str, list[int]]:
    """Return the ids of the fixes that the last search for each of the queries found."""
    searches = calls.kept.filter(domain=FIXES, found__isnull=False, query__in=queries)
    # In two steps, since the index of searches holds their times but not what they found.
    times = dict(searches.order_by().values_list("query").annotate(Max("at")))
    last = searches.filter(at__in=times.values()).order_by("at", "pk")
    return dict(last.values_list("query", "found"))


def looked_up(caller: Caller, errors: Sequence[FrequentError]) -> list[FrequentError]:
    """Add the best fix known now to errors whose last search found none."""
    lacking = [error.place.name for error in errors if error.fix is None]
    best = {query: (FIXES, pk) for query in lacking if (pk := best_fix(caller, query))}
    fixes = known(caller, best.values())
    return [
        replace(error, fix=fixes.get(best[error.place.name])) if error.place.name in best else error
        for error in errors
    ]


def best_fix(caller: Caller, query: str) -> int | None:
    found = remediations.find(
        caller, error_message=query, stack_trace="", limit=1, min_score=remediations.FITS, tags=()
    )
    return next((match.remediation.pk for match in found.matches), None)


def known(caller: Caller, keys: Iterable[Key]) -> dict[Key, Known]:
    """Return the records that still exist and that the caller may see."""
    wanted = set(keys)
    found: dict[Key, Known] = {}
    for domain in search.domains():
        ids = [pk for name, pk in wanted if name == domain.name]
        records: dict[int, Any] = domain.visible_to(caller).in_bulk(ids) if ids else {}
        found |= {(domain.name, pk): Known(domain.name, str(records[pk]), pk) for pk in records}
    return found

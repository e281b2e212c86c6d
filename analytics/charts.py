"""Data of charts and top lists: calls by day, and the most frequent values."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Literal

from django.db.models import Count, Q, QuerySet

from analytics import tallying
from analytics.aggregates import Sums
from analytics.models import DIAGNOSIS, Event
from analytics.tallying import Calls
from contextd.callers import Caller
from contextd.models import Project
from contextd.validation import parse_digits

What = Literal["operations", "errors", "unanswered", "clients", "projects", "contexts"]

ERRORS = ("remediation", DIAGNOSIS)
"""Domains whose queries are errors."""


@dataclass(frozen=True, slots=True)
class Point:
    """The figures of one operation on one day."""

    day: date
    operation: str
    sums: Sums


@dataclass(frozen=True, slots=True)
class Latency:
    """Latency percentiles of an operation in milliseconds."""

    operation: str
    calls: int
    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a top list."""

    name: str
    count: int
    failures: int


def series(calls: Calls) -> list[Point]:
    """Return figures by day and operation, omitting those without calls."""
    sums = calls.sums("day", "operation")
    points = [Point(day, operation, of_day) for (day, operation), of_day in sums.items()]
    return sorted(points, key=lambda point: (point.day, point.operation))


def latencies(calls: Calls) -> list[Latency]:
    """Return the latencies of all operations, those called most first."""
    buckets = calls.latencies()
    return [
        Latency(
            operation,
            sum(counts),
            *(tallying.percentile(counts, share) or 0.0 for share in (0.5, 0.95, 0.99)),
        )
        for operation, counts in sorted(buckets.items(), key=lambda one: (-sum(one[1]), one[0]))
    ]


def days_between(first: date, last: date) -> list[date]:
    return [first + timedelta(days=days) for days in range((last - first).days + 1)]


def top(caller: Caller, calls: Calls, what: What, limit: int) -> list[Place]:
    """Return a top list; other than operations, contexts and projects only of the kept calls.

    Lists of queries omit errors of diagnoses that the caller may not read.
    """
    match what:
        case "operations":
            return _most(calls, "operation", limit)
        case "contexts":
            return _most(calls, "context", limit)
        case "projects":
            return _most_of_projects(calls, limit)
        case "clients":
            return _named(calls.kept, "client", limit)
        case "unanswered":
            queries = calls.kept.with_queries_for(caller)
            return _named(queries.unanswered(), "query", limit)
        case "errors":
            queries = calls.kept.with_queries_for(caller)
            errors = queries.filter(domain__in=ERRORS, found__isnull=False)
            return _named(errors, "query", limit, failed=Q(returned=0))


def _most(calls: Calls, field: str, limit: int) -> list[Place]:
    places = [
        Place(str(name or "-"), sums.calls, sums.failures)
        for (name,), sums in calls.sums(field).items()
    ]
    return sorted(places, key=lambda place: (-place.count, place.name))[:limit]


def _most_of_projects(calls: Calls, limit: int) -> list[Place]:
    """Distinguish projects of the same name by origin, else by id."""
    places = _most(calls, "project_id", limit)
    labels = Project.objects.filter(pk__in=_numbers(places)).labels()
    names = {str(pk): label for pk, label in labels.items()}
    return [replace(place, name=names.get(place.name, "-")) for place in places]


def _numbers(places: Iterable[Place]) -> list[int]:
    return [pk for place in places if (pk := parse_digits(place.name)) is not None]


def _named(events: QuerySet[Event], field: str, limit: int, failed: Q | None = None) -> list[Place]:
    fails = ~Q(outcome="ok") if failed is None else failed
    counted = events.exclude(**{field: ""}).order_by().values_list(field)
    # Count the field itself, since an index may suffice for that.
    ranked = counted.annotate(number=Count(field), fails=Count(field, filter=fails))
    return [Place(*row) for row in ranked.order_by("-number", field)[:limit]]

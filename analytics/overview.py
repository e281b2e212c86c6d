"""Data of the dashboard's home page."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from operator import attrgetter

from django.utils import timezone

from analytics import calls as single
from analytics import charts, frequent, services
from analytics.aggregates import Sums, added
from analytics.charts import Latency, Place, Point
from analytics.frequent import FrequentError, UsedRecord
from analytics.models import WorkSession
from analytics.services import Period, Report
from analytics.tallying import Calls, midnight
from contextd.callers import Caller
from contextd.models import Project
from gateway.names import SEPARATOR

SAVING = ("_save", "_create")
SHOWN = 8
WEEK = 7
DAYS_COMPARED = 2 * WEEK + 1


@dataclass(frozen=True, slots=True)
class Compared:
    """A number for the last seven full days, the seven before, and today so far."""

    name: str
    now: int
    before: int
    today: int


@dataclass(frozen=True, slots=True)
class Day:
    day: date
    calls: int
    failures: int


@dataclass(frozen=True, slots=True)
class Overview:
    report: Report
    weeks: list[Compared]
    days: list[Day]
    latencies: list[Latency]
    used: list[UsedRecord]
    skills: list[UsedRecord]
    errors: list[FrequentError]
    unanswered: list[Place]
    projects: list[Place]
    clients: list[Place]
    connected: list[WorkSession]


def overview(caller: Caller, days: int, project: Project | None = None) -> Overview:
    """Return the figures of the last days, including today, that the caller may see."""
    period = last_days(days)
    looked_at = calls_of(caller, last_days(max(days, DAYS_COMPARED)), project)
    calls = looked_at.since(period.start)
    points = charts.series(looked_at)
    shown = [point for point in points if point.day >= period.start.date()]
    operations = by_operation(shown)
    sessions = services.sessions_of(caller, period, project)
    return Overview(
        report=services.reported(period, operations, sessions),
        weeks=weeks(points, period.end.date()),
        days=by_day(shown, period),
        latencies=charts.latencies(calls),
        used=frequent.most_used(caller, calls, SHOWN),
        skills=frequent.most_used(caller, calls, SHOWN, "skill"),
        errors=frequent.errors(caller, calls, SHOWN),
        unanswered=charts.top(caller, calls, "unanswered", SHOWN),
        projects=charts.top(caller, calls, "projects", SHOWN),
        clients=charts.top(caller, calls, "clients", SHOWN),
        connected=single.connected(caller, project),
    )


def errors(caller: Caller, days: int, project: Project | None = None) -> list[FrequentError]:
    """Return the errors looked up most, each with a fix if known now; this runs searches."""
    calls = calls_of(caller, last_days(days), project)
    return frequent.looked_up(caller, frequent.errors(caller, calls, SHOWN))


def last_days(days: int) -> Period:
    now = timezone.now()
    return Period(f"{days} days", midnight(now.date() - timedelta(days=days - 1)), now)


def calls_of(caller: Caller, period: Period, project: Project | None) -> Calls:
    calls = services.calls_seen_by(caller, period)
    return services.of_project(calls, project) if project else calls


def weeks(points: Sequence[Point], today: date) -> list[Compared]:
    this, last = (today - timedelta(days=days) for days in (WEEK, 2 * WEEK))
    now = numbers(point for point in points if this <= point.day < today)
    before = numbers(point for point in points if last <= point.day < this)
    so_far = numbers(point for point in points if point.day >= today)
    return [Compared(name, now[name], before[name], so_far[name]) for name in now]


def numbers(points: Iterable[Point]) -> dict[str, int]:
    sums = by_operation(points)
    saved = added(one for name, one in sums.items() if saves(name))
    total = added(sums.values())
    return {
        "Successful saves": saved.calls - saved.failures,
        "Searches that found something": total.answered,
        "Results that were used": total.useful,
        "Calls": total.calls,
        "Failed calls": total.failures,
    }


def saves(operation: str) -> bool:
    """Return whether the operation saves records of contextd; tools of other servers do not."""
    return operation.endswith(SAVING) and SEPARATOR not in operation


def by_operation(points: Iterable[Point]) -> dict[str, Sums]:
    sums: defaultdict[str, list[Sums]] = defaultdict(list)
    for point in points:
        sums[point.operation].append(point.sums)
    return {operation: added(of_days) for operation, of_days in sums.items()}


def by_day(points: Sequence[Point], period: Period) -> list[Day]:
    """Return every day, even without calls; the points must be in order."""
    sums = {
        day: added(point.sums for point in of_day)
        for day, of_day in groupby(points, key=attrgetter("day"))
    }
    return [
        Day(day, sums.get(day, Sums()).calls, sums.get(day, Sums()).failures)
        for day in charts.days_between(period.start.date(), period.end.date())
    ]

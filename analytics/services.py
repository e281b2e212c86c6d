"""Report what contextd was used for, and the estimated savings."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

from django.conf import settings
from django.db.models import Min
from django.utils import timezone

from analytics import tallying
from analytics.aggregates import Sums, added, ratio
from analytics.models import Event, Tally, WorkSession
from analytics.tallying import Calls, midnight
from contextd import projects, search
from contextd.callers import Caller
from contextd.errors import Invalid
from contextd.models import Project
from contextd.status import has_records, health_check

PeriodName = Literal["daily", "weekly", "monthly", "all-time"]
DAYS: dict[str, int] = {"daily": 1, "weekly": 7, "monthly": 30}
MAX_FEATURES = 5
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Period:
    """A period of full days; `end` is exclusive."""

    name: str
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Feature:
    feature: str
    count: int
    avg_latency_ms: float | None
    success_rate: float | None


@dataclass(frozen=True, slots=True)
class Performance:
    avg_search_latency_ms: float | None
    avg_checkpoint_latency_ms: float | None
    cache_hit_rate: float | None
    overall_success_rate: float | None


@dataclass(frozen=True, slots=True)
class Estimates:
    """The assumptions of the estimated money and minutes."""

    usd_per_million_tokens: float
    reading_limit_tokens: int
    minutes_per_useful_search: float
    sample_size: int


@dataclass(frozen=True, slots=True)
class Report:
    """Figures of a period; all but the sums are None without data."""

    period: str
    start_date: datetime
    end_date: datetime
    total_sessions: int
    avg_token_reduction_pct: float | None
    total_time_saved_min: float | None
    search_precision: float | None
    judged_searches: int
    estimated_cost_save_usd: float | None
    top_features: list[Feature]
    performance: Performance
    samples: Sums
    estimates: Estimates


@health_check("analytics")
def probe() -> None:
    """Check that the tables can be read."""
    has_records(Event.objects.all(), "analytics")


def report(
    caller: Caller,
    *,
    period: PeriodName,
    project_path: str | None,
    start_date: date | None,
    end_date: date | None,
) -> Report:
    """Return figures of the calls the caller may see; None for figures without data.

    Days are full days in UTC; dates take precedence over the period's name.
    """
    chosen = period_of(caller, period, start_date, end_date)
    calls = calls_seen_by(caller, chosen)
    if project_path is None:
        return reported(chosen, by_operation(calls), sessions_of(caller, chosen, None))
    project = projects.find(caller, project_path)
    sessions = sessions_of(caller, chosen, project) if project else 0
    return reported(chosen, by_operation(of_project(calls, project)), sessions)


def sessions_of(caller: Caller, period: Period, project: Project | None) -> int:
    """Count the visible sessions that began in the period, or those that touched the project."""
    sessions = WorkSession.objects.visible_to(caller).between(period.start, period.end)
    return sessions.touching(project).count()


def period_of(caller: Caller, name: PeriodName, first: date | None, last: date | None) -> Period:
    """Return the period; `all-time` begins with the first call that the caller may see.

    Raises Invalid if it would end before it begins.
    """
    now = timezone.now()
    last_day = min(last or now.date(), now.date())
    end = min(now, midnight(last_day) + timedelta(days=1))
    if first is not None:
        start = midnight(first)
    elif name == "all-time":
        start = midnight(min(first_day(caller), end.date()))
    else:
        start = midnight(days_before(last_day, DAYS[name]))
    if start > end:
        raise Invalid(
            "start_date must not be after end_date, nor in the future", field="start_date"
        )
    return Period(name, start, end)


def days_before(day: date, days: int) -> date:
    """Return the day that many days earlier, limited by the calendar."""
    return date.fromordinal(max(day.toordinal() - days, date.min.toordinal()))


def first_day(caller: Caller) -> date:
    """Return the first day with calls that the caller may see; today if there are none."""
    tallied = Tally.objects.visible_to(caller).aggregate(first=Min("day"))["first"]
    seen = Event.objects.visible_to(caller).aggregate(first=Min("at"))["first"]
    days = [tallied, seen.date() if seen else None]
    return min((day for day in days if day is not None), default=timezone.now().date())


def calls_seen_by(caller: Caller, period: Period) -> Calls:
    return tallying.calls_between(period.start, period.end).visible_to(caller)


def of_project(calls: Calls, project: Project | None) -> Calls:
    """Return calls that named the project or were about its records; none without a project."""
    return calls.none() if project is None else calls.filter(project=project)


def by_operation(calls: Calls) -> dict[str, Sums]:
    return {operation: sums for (operation,), sums in calls.sums("operation").items()}


def reported(period: Period, operations: dict[str, Sums], sessions: int) -> Report:
    total = added(operations.values())
    judged = judged_of(operations)
    return Report(
        period=period.name,
        start_date=period.start,
        end_date=period.end,
        total_sessions=sessions,
        avg_token_reduction_pct=ratio(total.reduction, total.answered),
        total_time_saved_min=minutes_saved(judged),
        search_precision=ratio(judged.useful, judged.searches),
        judged_searches=judged.searches,
        estimated_cost_save_usd=dollars_saved(judged),
        top_features=top_features(operations),
        performance=performance(operations, total),
        samples=total,
        estimates=Estimates(
            usd_per_million_tokens=settings.CONTEXTD_TOKEN_PRICE,
            reading_limit_tokens=settings.CONTEXTD_READING_LIMIT,
            minutes_per_useful_search=settings.CONTEXTD_MINUTES_SAVED,
            sample_size=judged.useful,
        ),
    )


def judged_of(by_operation: dict[str, Sums]) -> Sums:
    """Sum up operations, excluding searches of records whose use cannot be tracked."""
    unknown = {domain.found_by for domain in search.domains() if not domain.use_is_known}
    return added(sums for name, sums in by_operation.items() if name not in unknown)


def minutes_saved(judged: Sums) -> float | None:
    """Estimate the saved minutes; only searches with a used result count."""
    return judged.useful * settings.CONTEXTD_MINUTES_SAVED if judged.searches else None


def dollars_saved(judged: Sums) -> float | None:
    """Estimate the cost of the spared tokens as input of a model."""
    if not judged.searches:
        return None
    return judged.spared_tokens / MILLION * settings.CONTEXTD_TOKEN_PRICE


def top_features(operations: dict[str, Sums]) -> list[Feature]:
    most = sorted(operations.items(), key=lambda pair: (-pair[1].calls, pair[0]))
    return [
        Feature(name, sums.calls, sums.mean_milliseconds, sums.success_rate)
        for name, sums in most[:MAX_FEATURES]
    ]


def performance(operations: dict[str, Sums], total: Sums) -> Performance:
    checkpoints = operations.get("checkpoint_save", Sums())
    return Performance(
        avg_search_latency_ms=ratio(total.search_milliseconds, total.searches),
        avg_checkpoint_latency_ms=checkpoints.mean_milliseconds,
        cache_hit_rate=ratio(total.cached, total.lookups),
        overall_success_rate=total.success_rate,
    )

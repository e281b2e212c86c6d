"""Sum up calls: full days once and permanently, later calls on each query.

Days are in UTC.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Min, QuerySet
from django.db.models.functions import TruncDate
from django.utils import timezone

from analytics import aggregates, recording
from analytics.aggregates import Sums, added
from analytics.models import BUCKETS, Event, EventQuerySet, Tally, WorkSession
from contextd import projects
from contextd.callers import Caller
from contextd.models import Project

Key = tuple[Any, ...]
ROW = ("day", "project_id", "context", "operation")


@dataclass(frozen=True, slots=True)
class Calls:
    """Tallied days and later events, with the same filters.

    `kept` are all kept single calls of the time, including those of tallied days.
    """

    tallies: QuerySet[Tally]
    events: QuerySet[Event]
    kept: EventQuerySet

    def filter(self, **fields: Any) -> "Calls":
        """Filter by fields that a Tally has too."""
        return self._each(lambda rows: rows.filter(**fields))

    def visible_to(self, caller: Caller) -> "Calls":
        return self._each(lambda rows: rows.visible_to(caller))

    def since(self, start: datetime) -> "Calls":
        """Return the later calls; `start` is the beginning of a day."""
        tallies = self.tallies.filter(day__gte=start.date())
        return Calls(tallies, self.events.filter(at__gte=start), self.kept.filter(at__gte=start))

    def none(self) -> "Calls":
        return self._each(lambda rows: rows.none())

    def _each(self, change: Callable[[Any], Any]) -> "Calls":
        return Calls(change(self.tallies), change(self.events), change(self.kept))

    def sums(self, *by: str) -> dict[Key, Sums]:
        """Return the sums for each combination of these Tally fields."""
        tallied = self.tallies.order_by().values_list(*by)
        counted = dated(self.events).values_list(*by)
        rows: defaultdict[Key, list[Sums]] = defaultdict(list)
        for row in [
            *tallied.annotate(**aggregates.of_tallies()),
            *counted.annotate(**aggregates.of_events()),
        ]:
            rows[row[: len(by)]].append(Sums._make(row[len(by) :]))
        return {key: added(sums) for key, sums in rows.items()}

    def latencies(self) -> dict[str, list[int]]:
        """Return the number of calls per bucket for each operation."""
        tallied = self.tallies.order_by().values_list("operation")
        latencies: defaultdict[str, list[int]] = defaultdict(lambda: [0] * BUCKETS)
        latencies |= dict(tallied.annotate(buckets=aggregates.SumOfArrays("latencies")))
        for operation, bucket, calls in bucketed(self.events, "operation"):
            latencies[operation][bucket] += calls
        return dict(latencies)


def calls_between(start: datetime, end: datetime) -> Calls:
    """Return the calls of the time; `start` must begin a day if that day is tallied."""
    open_from = first_open_moment()
    tallies = Tally.objects.filter(day__gte=start.date(), day__lt=end)
    events = Event.objects.between(max(start, open_from), end)
    return Calls(tallies, events, Event.objects.between(start, end))


def first_open_day() -> date | None:
    """Return the first day not tallied; None if nothing was ever called."""
    last: date | None = Tally.objects.aggregate(last=Max("day"))["last"]
    if last is not None:
        return last + timedelta(days=1)
    first: datetime | None = Event.objects.aggregate(first=Min("at"))["first"]
    return first.date() if first else None


def first_open_moment() -> datetime:
    day = first_open_day()
    return midnight(day) if day else timezone.now()


def midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def roll_up() -> None:
    """Tally the past days, and delete single calls after their retention.

    Each day is committed by itself, so that a later failure does not undo it.
    """
    while tally_next_day():
        pass
    oldest = timezone.now() - timedelta(days=settings.CONTEXTD_EVENTS_DAYS)
    recording.forget_before(min(oldest, first_open_moment()))


def tally_next_day() -> bool:
    """Tally the first past day that is not tallied; return False if there is none."""
    with transaction.atomic():
        recording.wait_for_other_writers()
        day = first_open_day()
        return day is not None and day < timezone.now().date() and tally(day)


def tally(day: date) -> bool:
    """Tally the day, or the next one with calls; return False if none is over."""
    until = midnight(timezone.now().date())
    first = Event.objects.between(midnight(day), until).aggregate(first=Min("at"))["first"]
    if first is None:
        return False
    start = midnight(first.date())
    Tally.objects.bulk_create(count(Event.objects.between(start, start + timedelta(days=1))))
    return True


def count(events: QuerySet[Event]) -> list[Tally]:
    latencies: defaultdict[Key, list[int]] = defaultdict(lambda: [0] * BUCKETS)
    for *key, bucket, calls in bucketed(events, *ROW):
        latencies[tuple(key)][bucket] += calls
    return [
        Tally(**row, latencies=latencies[tuple(row[name] for name in ROW)])
        for row in dated(events).values(*ROW).annotate(**aggregates.of_events())
    ]


def dated(events: QuerySet[Event]) -> QuerySet[Any]:
    return events.order_by().annotate(day=TruncDate("at", tzinfo=UTC))


def bucketed(events: QuerySet[Event], *by: str) -> QuerySet[Any, Any]:
    counted = dated(events).annotate(bucket=aggregates.Bucket()).values_list(*by, "bucket")
    sized: QuerySet[Any, Any] = counted.annotate(number=aggregates.aggregate("COUNT(*)"))
    return sized


@projects.before_merge
def merge_tallies(kept: Project, absorbed: Project) -> None:
    """Add the absorbed project's tallies to the kept one's."""
    Event.objects.filter(project=absorbed).update(project=kept)
    for theirs in Tally.objects.filter(project=absorbed):
        same = {name: getattr(theirs, name) for name in ("day", "context", "operation")}
        ours = Tally.objects.filter(project=kept, **same).first()
        if ours is None:
            Tally.objects.filter(pk=theirs.pk).update(project=kept)
        else:
            add(ours, theirs)
            theirs.delete()
    for session in WorkSession.objects.filter(projects__contains=[absorbed.pk]):
        others = [pk for pk in session.projects if pk not in (absorbed.pk, kept.pk)]
        WorkSession.objects.filter(pk=session.pk).update(projects=[*others, kept.pk])


def add(ours: Tally, theirs: Tally) -> None:
    for name in Sums._fields:
        setattr(ours, name, getattr(ours, name) + getattr(theirs, name))
    ours.latencies = [a + b for a, b in zip(ours.latencies, theirs.latencies, strict=True)]
    ours.save()


def percentile(latencies: list[int], share: float) -> float | None:
    """Return the latency in milliseconds at the percentile, at the buckets' precision."""
    wanted, passed = share * sum(latencies), 0
    if not wanted:
        return None
    for bucket, calls in enumerate(latencies):
        if calls and passed + calls >= wanted:
            low, high = upper_bound(bucket - 1) if bucket else 0.0, upper_bound(bucket)
            return low + (high - low) * (wanted - passed) / calls
        passed += calls
    return upper_bound(BUCKETS - 1)


def upper_bound(bucket: int) -> float:
    return float(2 ** (bucket / 4))

"""Query single calls that the caller may see: the newest, and those about one record."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import timedelta

from django.db.models import Count, Max, Q, QuerySet
from django.utils import timezone

from analytics.models import Event, WorkSession
from analytics.recording import PAUSE
from contextd.callers import Caller
from contextd.models import Project

MAX_CALLS_OF_RECORD = 20
MAX_CONNECTED = 50
DAYS_OF_USE = 30


@dataclass(frozen=True, slots=True)
class Wanted:
    """A filter of calls; None matches any."""

    operation: str | None = None
    outcome: str | None = None
    context: str | None = None
    project: Project | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """Uses of a record within a number of days; `calls` are the newest that are visible."""

    days: int
    found: int
    used: int
    did_not_help: int
    calls: Sequence[Event]


def newest(caller: Caller, wanted: Wanted, *, limit: int) -> list[Event]:
    """Return the newest calls, newest first."""
    return list(_chosen(caller, wanted).order_by("-pk")[:limit])


def following(caller: Caller, wanted: Wanted, *, after: int, limit: int) -> list[Event]:
    """Return calls recorded after the event with that key, oldest first."""
    return list(_chosen(caller, wanted).filter(pk__gt=after).order_by("pk")[:limit])


def _chosen(caller: Caller, wanted: Wanted) -> QuerySet[Event]:
    given = {one.name: getattr(wanted, one.name) for one in fields(Wanted)}
    chosen = {name: value for name, value in given.items() if value}
    events: QuerySet[Event] = Event.objects.visible_to(caller).of_caller(caller)
    return events.filter(**chosen).select_related("project")


def last_key() -> int:
    """Return the newest event's key; keys only grow, since processes write one at a time."""
    return Event.objects.aggregate(last=Max("pk"))["last"] or 0


def use_of(caller: Caller, domain: str, record_id: int) -> Use:
    since = timezone.now() - timedelta(days=DAYS_OF_USE)
    events = Event.objects.visible_to(caller).filter(domain=domain, at__gte=since)
    about = events.filter(used=record_id)
    counted = about.order_by().aggregate(
        used=Count("pk", filter=Q(outcome="ok")), did_not_help=Count("pk", filter=Q(helped=False))
    )
    found = events.filter(found__contains=[record_id]).count()
    return Use(
        DAYS_OF_USE, found, **counted, calls=list(about.of_caller(caller)[:MAX_CALLS_OF_RECORD])
    )


def connected(caller: Caller, project: Project | None = None) -> list[WorkSession]:
    """Return sessions that are not over yet, or those that touched the project.

    The last active session comes first.
    """
    since = timezone.now() - PAUSE
    sessions = WorkSession.objects.visible_to(caller).of_caller(caller).filter(ended_at__gte=since)
    return list(sessions.touching(project).order_by("-ended_at")[:MAX_CONNECTED])

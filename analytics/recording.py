"""Record finished calls: time, operation, outcome, and what they searched, found and used."""

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from analytics.models import NAME_LENGTH, QUERY_LENGTH, Event, WorkSession
from contextd import changes, logs, redaction, search
from contextd.buffers import Buffer
from contextd.callers import Caller
from contextd.notes import Notes, Searched
from contextd.operations import Operation, Result
from contextd.validation import parse_digits, printable

PAUSE = timedelta(minutes=30)
"""Time without a call that ends a session, and with it the time to use what was found."""
TURN_SECONDS = 0.0005
ROWS_AT_ONCE = 10_000
ONE_WRITER = 0x0C0DE1
"""Key of the advisory lock that serialises writers, so that sessions begin only once."""

logger = logging.getLogger(__name__)

# The last use of a record counts: one that was read and then rated as bad did not help.
JUDGE = """
WITH evidence AS (
    SELECT DISTINCT ON (search.id, later.used) search.id, later.helped
    FROM analytics_event AS search
    JOIN analytics_event AS later
        ON later.session_id = search.session_id AND later.domain = search.domain
        AND later.used = ANY(search.found) AND later.outcome = 'ok'
        AND later.at BETWEEN search.at AND search.at + %(pause)s * interval '1 second'
    WHERE search.session_id = ANY(%(sessions)s)
    ORDER BY search.id, later.used, later.at DESC
)
UPDATE analytics_event AS event SET was_useful = judged.was_useful
FROM (SELECT id, bool_or(helped) AS was_useful FROM evidence GROUP BY id) AS judged
WHERE event.id = judged.id AND event.was_useful IS DISTINCT FROM judged.was_useful
"""


@dataclass(frozen=True, slots=True)
class Finished:
    """A call as reported by `operation_finished`, with its time."""

    at: datetime
    operation: str
    caller: Caller
    outcome: str
    seconds: float
    notes: Notes
    result: Result | None


Noted = tuple[Finished, Event]


def note(
    operation: Operation,
    caller: Caller,
    category: str,
    seconds: float,
    notes: Notes,
    result: Result | None,
) -> None:
    """Buffer the call until the next write; adds no time to the call."""
    kept = result if notes.searches else None
    if operation.effect == "delete":
        notes = replace(notes, used=None)  # deleting a record is not a use of it
    now = timezone.now()
    if not buffer.add(Finished(now, operation.name, caller, category, seconds, notes, kept)):
        logs.warn_seldom(logger, "calls are not counted: too many wait to be written")


def write(calls: Sequence[Finished]) -> None:
    noted = [_noted(call) for call in calls]
    with transaction.atomic():
        wait_for_other_writers()
        sessions = [list(of_key) for _, of_key in _by_session(noted)]
        events = [event for of_key in sessions for event in _in_sessions(of_key)]
        _insert(events)
        _judge({event.session_id for event in events if event.used or event.found})
        changes.announce_calls()


def _insert(events: Sequence[Event]) -> None:
    """Insert with COPY, at a tenth of the cost of INSERT, which matters for every call."""
    fields = [field for field in Event._meta.concrete_fields if not field.primary_key]
    columns = ", ".join(str(field.column) for field in fields)
    statement = f"COPY {Event._meta.db_table} ({columns}) FROM STDIN"
    with (
        connection.cursor() as cursor,
        connection.wrap_database_errors,
        cursor.copy(statement) as copy,
    ):
        for event in events:
            copy.write_row([getattr(event, field.attname) for field in fields])


def wait_for_other_writers() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ONE_WRITER])


def _noted(call: Finished) -> Noted:
    """Return the event of the call, which has no session yet.

    Counting the tokens of answers takes milliseconds, in which calls would have to wait for
    Python's lock; so they get their turn after each.
    """
    event = event_of(call)
    time.sleep(TURN_SECONDS)
    return call, event


def _by_session(noted: Sequence[Noted]) -> Iterator[tuple[str, Iterator[Noted]]]:
    def key(one: Noted) -> str:
        return printable(one[0].caller.connection, 200)

    return groupby(sorted(noted, key=lambda one: (key(one), one[0].at)), key=key)


def _in_sessions(noted: Sequence[Noted]) -> list[Event]:
    """Add the events of one connection to its session, or begin another after a pause."""
    session = _open_session(noted[0][0])
    for call, event in noted:
        if call.at - session.ended_at > PAUSE:
            session.save()
            session = _new_session(call)
        _add_to(session, event)
    session.save()
    return [event for _, event in noted]


def _open_session(call: Finished) -> WorkSession:
    key = printable(call.caller.connection, 200)
    last = WorkSession.objects.filter(key=key, ended_at__gte=call.at - PAUSE)
    return last.order_by("-ended_at").first() or _new_session(call)


def _new_session(call: Finished) -> WorkSession:
    caller = call.caller
    return WorkSession.objects.create(
        key=printable(caller.connection, 200),
        principal=printable(caller.principal, NAME_LENGTH),
        client=printable(caller.client, NAME_LENGTH),
        context=caller.context,
        door=caller.door,
        began_at=call.at,
        ended_at=call.at,
    )


def _add_to(session: WorkSession, event: Event) -> None:
    event.session, event.principal, event.client = session, session.principal, session.client
    session.calls += 1
    session.ended_at = max(session.ended_at, event.at)
    if event.project_id is not None and event.project_id not in session.projects:
        session.projects.append(event.project_id)


def event_of(call: Finished) -> Event:
    notes, caller = call.notes, call.caller
    event = Event(
        at=call.at,
        project_id=notes.project_id,
        context=caller.context,
        door=caller.door,
        operation=call.operation[:NAME_LENGTH],
        outcome=call.outcome,
        milliseconds=call.seconds * 1000,
        lookups=len(notes.looked_up),
        cached=sum(notes.looked_up.values()),
    )
    if notes.used:
        event.domain, event.used = notes.used
        event.helped = notes.helped
    if notes.searches and call.result is not None:
        _tell_search(event, notes, call.result)
    return event


def _tell_search(event: Event, notes: Notes, result: Result) -> None:
    first = notes.searches[0]
    if notes.answered:
        event.domain, event.found = notes.answered
        event.returned = len(notes.answered.record_ids)
    else:
        records = [one for one in returned(result) if getattr(one, "score", 1.0) >= search.NOISE]
        event.domain, event.found, event.returned = first.domain, ids_of(records), len(records)
    event.query = printable(redaction.redact(first.query[: 4 * QUERY_LENGTH]).text, QUERY_LENGTH)
    event.searched_tokens = sum(
        search.tokens_of_passages(list(collections), passages)
        for collections, passages in looked_in(notes.searches).items()
    )
    event.returned_tokens = search.tokens_of(result.model_dump_json())


def looked_in(searches: Sequence[Searched]) -> dict[tuple[int, ...], int]:
    """Return passages by collection; repeated searches of the same one count once."""
    return {tuple(sorted(one.collections)): one.passages for one in searches}


def returned(result: Result) -> list[Any]:
    """Return the records in the result's first list, which every search has."""
    values = (getattr(result, name) for name in type(result).model_fields)
    return next((value for value in values if isinstance(value, list)), [])


def ids_of(records: Sequence[Any]) -> list[int]:
    """Return the ids of records that have a numeric one."""
    ids = (parse_digits(str(getattr(record, "id", ""))) for record in records)
    return [pk for pk in ids if pk is not None]


def _judge(sessions: set[int]) -> None:
    if sessions:
        with connection.cursor() as cursor:
            cursor.execute(JUDGE, {"sessions": list(sessions), "pause": PAUSE.seconds})


def forget_before(moment: datetime) -> None:
    """Delete earlier calls in batches; keep their sessions without the caller."""
    old = Event.objects.filter(at__lt=moment).order_by("at").values("pk")[:ROWS_AT_ONCE]
    while Event.objects.filter(pk__in=old).delete()[0]:
        pass
    ended = WorkSession.objects.filter(ended_at__lt=moment).exclude(key="")
    first = ended.order_by().values("pk")[:ROWS_AT_ONCE]
    while WorkSession.objects.filter(pk__in=first).update(key="", principal="", client=""):
        pass


buffer = Buffer("counted calls", write, settings.CONTEXTD_EVENTS_SECONDS)

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import pytest
from django.utils import timezone

from analytics import recording
from analytics.models import Event, WorkSession
from contextd import pipeline
from contextd.callers import Caller
from tests.conftest import Call


class CallAs(Protocol):
    def __call__(self, name: str, **arguments: Any) -> Any: ...


class Happened(Protocol):
    def __call__(self, operation: str, *, days_ago: int = ..., **fields: Any) -> Event: ...


@pytest.fixture
def counted(call: Call, settings: Any) -> Call:
    """`call`, and what it was is in the tables of analytics at once."""
    settings.CONTEXTD_RATE_LIMITS = False

    def counted(name: str, /, **arguments: Any) -> Any:
        try:
            return call(name, **arguments)
        finally:
            recording.buffer.flush()

    return counted


@pytest.fixture
def counted_as(transactional_db: None, warm_model: None) -> Any:
    """The same for somebody else: `counted_as(caller, "status")`."""

    def counted_as(caller: Caller, name: str, **arguments: Any) -> Any:
        try:
            return pipeline.call(name, arguments, caller)
        finally:
            recording.buffer.flush()

    return counted_as


@pytest.fixture
def happened(db: None) -> Happened:
    """A call now, or at noon some days ago, without making it."""

    def happened(operation: str, *, days_ago: int = 0, **fields: Any) -> Event:
        at = noon(days_ago)
        session = fields.pop("session", None) or WorkSession.objects.create(
            key="k", principal="p", client="c", context="default", began_at=at, ended_at=at
        )
        given = {"context": "default", "outcome": "ok", "milliseconds": 10.0, **fields}
        if given.get("found") is not None:
            given.setdefault("returned", len(given["found"]))
        return Event.objects.create(operation=operation, at=at, session=session, **given)

    return happened


def noon(days_ago: int) -> datetime:
    """Today: now, since noon may be yet to come, or long ago."""
    now = timezone.now()
    if not days_ago:
        return now
    return datetime(now.year, now.month, now.day, 12, tzinfo=UTC) - timedelta(days=days_ago)


def in_session(caller: Caller, session: str) -> Caller:
    return dataclasses.replace(caller, connection=session)

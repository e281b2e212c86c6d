"""Sessions as rows: whose they are, how many there may be, and what ends them."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from redis import Redis

from contextd import bus, sessions, tasks
from contextd.callers import Principal
from contextd.models import Session
from contextd.signals import session_created

pytestmark = pytest.mark.django_db(transaction=True)

ANN = Principal(name="user:1")
CLIENT = sessions.Client(name="editor", version="2", capabilities={"elicitation": {}})


def begin(principal: Principal = ANN, seen_minutes_ago: float = 0) -> Session:
    session = sessions.begin(
        principal, context="default", client=CLIENT, protocol_version="2025-06-18"
    )
    seen_at = timezone.now() - timedelta(minutes=seen_minutes_ago)
    Session.objects.filter(pk=session.pk).update(last_seen_at=seen_at)
    return session


def find(session: Session, principal: str = ANN.name, context: str = "default") -> Session | None:
    return sessions.find(session.pk, principal=principal, context=context)


@pytest.fixture
def ended() -> Iterator[Callable[[], list[str]]]:
    """Return the sessions of the next announcement of ended ones."""
    valkey: Any = Redis.from_url(settings.REDIS_URL)
    with valkey.pubsub() as pubsub:
        pubsub.subscribe(bus.EVERYBODY)
        pubsub.get_message(timeout=5)

        def read() -> list[str]:
            while message := pubsub.get_message(timeout=5):
                news = bus.news.validate_json(message["data"])
                if isinstance(news, bus.SessionsEnded):
                    return news.sessions
            pytest.fail("nothing was announced")

        yield read


def test_a_session_is_found_only_by_its_principal_in_its_context() -> None:
    session = begin()

    assert find(session) == session
    assert find(session, principal="user:2") is None
    assert find(session, context="other") is None


@pytest.mark.parametrize("session_id", ["", "x", "0" * 32, "é" * 32, "0" * 10_000])
def test_only_ids_of_sessions_are_sessions(session_id: str) -> None:
    begin()

    assert sessions.find(session_id, principal=ANN.name, context="default") is None


def test_ids_are_long_and_random() -> None:
    ids = {begin().pk for _ in range(5)}

    assert {len(session_id) for session_id in ids} == {32}
    assert len(ids) == 5


def test_a_new_session_is_announced() -> None:
    announced: list[Session] = []

    def note(session: Session, **kwargs: object) -> None:
        announced.append(session)

    session_created.connect(note)
    try:
        session = begin()
    finally:
        session_created.disconnect(note)

    assert announced == [session]


def test_a_session_that_is_not_used_ends(ended: Callable[[], list[str]]) -> None:
    idle, fresh = begin(seen_minutes_ago=32), begin(seen_minutes_ago=29)

    assert find(idle) is None
    assert tasks.end_idle_sessions() == 1
    assert list(Session.objects.all()) == [fresh]
    assert ended() == [idle.pk]


def test_a_session_that_is_used_lasts() -> None:
    session = begin(seen_minutes_ago=30)

    sessions.note_seen([session.pk])
    sessions.end_idle()

    assert timezone.now() - session_row(session).last_seen_at < timedelta(minutes=1)


def session_row(session: Session) -> Session:
    return Session.objects.get(pk=session.pk)


def test_the_least_recently_used_session_ends_when_there_are_too_many(
    ended: Callable[[], list[str]],
) -> None:
    foreign = begin(Principal(name="user:2"), seen_minutes_ago=20)
    mine = [begin(seen_minutes_ago=minutes) for minutes in range(sessions.MAX_PER_PRINCIPAL)]

    newest = begin()

    assert find(mine[-1]) is None
    assert ended() == [mine[-1].pk]
    assert {session.pk for session in Session.objects.all()} == {
        foreign.pk,
        newest.pk,
        *(session.pk for session in mine[:-1]),
    }


def test_many_short_sessions_end_no_session_that_is_in_use() -> None:
    lasting = begin(seen_minutes_ago=1)
    created_at = timezone.now() - timedelta(minutes=20)
    Session.objects.filter(pk=lasting.pk).update(created_at=created_at)
    short = [begin() for _ in range(sessions.MAX_PER_PRINCIPAL)]

    assert find(lasting)
    assert [find(session) is not None for session in short[:2]] == [False, True]


def test_a_new_session_is_never_the_one_that_ends() -> None:
    for _ in range(sessions.MAX_PER_PRINCIPAL):
        begin()
    Session.objects.update(created_at=timezone.now() - timedelta(minutes=20))

    assert find(begin())


def test_an_admin_sees_sessions_and_ends_them(
    admin_client: Client, ended: Callable[[], list[str]]
) -> None:
    user = User.objects.get()
    one, other = begin(Principal(name="user:1", user_id=user.pk)), begin()
    page = admin_client.get("/admin/contextd/session/").content.decode()
    row = admin_client.get(f"/admin/contextd/session/{one.pk}/change/").content.decode()

    admin_client.post(
        "/admin/contextd/session/", {"action": "end_selected", "_selected_action": [one.pk]}
    )
    admin_client.post(f"/admin/contextd/session/{other.pk}/delete/", {"post": "yes"})

    assert "editor 2" in page
    assert "End this session" in row
    assert not Session.objects.exists()
    assert [ended(), ended()] == [[one.pk], [other.pk]]
    logged = LogEntry.objects.filter(action_flag=DELETION).values_list("object_id", flat=True)
    assert set(logged) == {one.pk, other.pk}


def test_a_resource_has_the_subscribers_that_asked() -> None:
    one, other = begin(), begin()

    sessions.subscribe(one.pk, "checkpoint://7")
    sessions.subscribe(one.pk, "checkpoint://7")
    sessions.subscribe(other.pk, "checkpoint://7")
    sessions.unsubscribe(other.pk, "checkpoint://7")

    among = [one.pk, other.pk]
    assert sessions.subscriptions("checkpoint://7", among) == [(one.pk, "checkpoint://7")]
    assert sessions.subscriptions("checkpoint://8", among) == []


def test_subscribers_of_a_query_belong_to_the_resource() -> None:
    one, newest = begin(), "checkpoint://recent"
    sessions.subscribe(one.pk, f"{newest}?tag=auth")
    sessions.subscribe(one.pk, f"{newest}_ones")

    assert sessions.subscriptions(newest, [one.pk]) == [(one.pk, f"{newest}?tag=auth")]

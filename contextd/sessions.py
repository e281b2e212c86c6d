"""Sessions of MCP clients up to protocol 2025-11-25: creation, look-up, use and end."""

import secrets
from collections.abc import Collection, Sized
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from contextd import bus
from contextd.callers import Principal
from contextd.errors import Invalid
from contextd.models import Session, SessionQuerySet, Subscription
from contextd.signals import session_created

MAX_IDLE = timedelta(minutes=30)
# Use is recorded at this interval, so a session may have been used later than its row says.
TOUCH_INTERVAL = timedelta(minutes=1)
MAX_PER_PRINCIPAL = 50
MAX_SUBSCRIPTIONS = 100
ID_BYTES = 16
MAX_NAME_LENGTH = 100


@dataclass(frozen=True, slots=True)
class Client:
    """What a client reports about itself in the handshake."""

    name: str
    version: str
    capabilities: dict[str, Any]


def begin(principal: Principal, *, context: str, client: Client, protocol_version: str) -> Session:
    """Create a session. If the principal has too many, one ends (see `surplus_of`)."""
    with transaction.atomic():
        session = Session.objects.create(
            id=secrets.token_hex(ID_BYTES),
            principal=principal.name,
            user_id=principal.user_id,
            context=context,
            client_name=client.name[:MAX_NAME_LENGTH],
            client_version=client.version[:MAX_NAME_LENGTH],
            client_capabilities=client.capabilities,
            protocol_version=protocol_version,
        )
        others = Session.objects.exclude(pk=session.pk)
        _end_all(others.surplus_of(principal.name, MAX_PER_PRINCIPAL - 1, TOUCH_INTERVAL))
    session_created.send(Session, session=session)
    return session


def find(session_id: str, *, principal: str, context: str) -> Session | None:
    """Return the session, only for the principal and context that created it."""
    if len(session_id) != 2 * ID_BYTES or not session_id.isalnum():
        return None
    lasting = Session.objects.seen_since(_idle_limit())
    return lasting.filter(pk=session_id, principal=principal, context=context).first()


def note_seen(seen: Collection[str]) -> None:
    """Record that sessions are in use; callers do so once per `TOUCH_INTERVAL`."""
    Session.objects.filter(pk__in=seen).update(last_seen_at=timezone.now())


def ended_among(session_ids: Collection[str]) -> set[str]:
    lasting = Session.objects.filter(pk__in=session_ids).values_list("pk", flat=True)
    return set(session_ids) - set(lasting)


def end(session_ids: Collection[str]) -> None:
    """End the sessions in every process."""
    with transaction.atomic():
        Session.objects.filter(pk__in=session_ids).delete()
        _announce_end(session_ids)


def end_idle() -> int:
    """End sessions that have not been used for too long; return their number."""
    return _end_all(Session.objects.unseen_since(_idle_limit()))


def subscribe(session_id: str, uri: str) -> None:
    others = Subscription.objects.filter(session_id=session_id).exclude(uri=uri)
    check_subscriptions(others.values_list("pk", flat=True)[:MAX_SUBSCRIPTIONS])
    Subscription.objects.get_or_create(session_id=session_id, uri=uri)


def check_subscriptions(others: Sized) -> None:
    """Raise Invalid if a session with these subscriptions may not have another one."""
    if len(others) >= MAX_SUBSCRIPTIONS:
        raise Invalid(f"a session has at most {MAX_SUBSCRIPTIONS} subscriptions", field="uri")


def unsubscribe(session_id: str, uri: str) -> None:
    Subscription.objects.filter(session_id=session_id, uri=uri).delete()


def subscribed(session_id: str) -> list[str]:
    """Return the addresses that the session is subscribed to."""
    found = Subscription.objects.filter(session_id=session_id).order_by("uri")
    return list(found.values_list("uri", flat=True))


def subscriptions(uri: str, among: Collection[str]) -> list[tuple[str, str]]:
    """Return the sessions subscribed to changes of the resource, each with its address."""
    concerned = Q(uri=uri) | Q(uri__startswith=f"{uri}?")  # as `changes.concerns` defines it
    wanted = Subscription.objects.filter(concerned, session_id__in=among)
    return list(wanted.values_list("session_id", "uri"))


def _idle_limit() -> datetime:
    return timezone.now() - MAX_IDLE - TOUCH_INTERVAL


def _end_all(sessions: SessionQuerySet) -> int:
    """End them; a session whose row is locked is being recorded as seen, and stays."""
    with transaction.atomic():
        locked = sessions.select_for_update(skip_locked=True)
        ended = list(locked.values_list("pk", flat=True))
        if ended:
            Session.objects.filter(pk__in=ended).delete()
            _announce_end(ended)
    return len(ended)


def _announce_end(session_ids: Collection[str]) -> None:
    transaction.on_commit(partial(bus.publish, bus.SessionsEnded(sessions=list(session_ids))))

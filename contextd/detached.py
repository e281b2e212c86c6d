"""Calls that take long: the client does not wait, but polls for the result by id."""

import secrets
from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from contextd.callers import Caller
from contextd.conversations import Detached
from contextd.errors import Busy, NotFound
from contextd.models import DetachedCall
from contextd.operations import Operation
from contextd.validation import ensure_storable, unstorable

MAX_OPEN_PER_PRINCIPAL = 100
RETENTION = timedelta(days=1)
# A process that works on calls renews their leases more often than this.
LEASE = timedelta(seconds=60)
LOST = {
    "code": -32603,
    "message": "the server process that worked on this has ended; call the tool again",
}
# A call that has ended does not need its replies, which may contain a password for an upstream.
UNSAID: Mapping[str, Any] = {"arguments": {}, "replies": {}}

Status = DetachedCall.Status


def begin(
    caller: Caller,
    operation: Operation,
    interim: Detached,
    replies: Mapping[str, Any],
) -> DetachedCall:
    """Store a call that this process continues to work on."""
    ensure_storable({"replies": replies})
    calls = DetachedCall.objects.of(caller)
    if calls.filter(status__in=DetachedCall.OPEN).count() >= MAX_OPEN_PER_PRINCIPAL:
        raise Busy(
            f"{MAX_OPEN_PER_PRINCIPAL} of your calls are not finished; wait for some of them"
        )
    now = timezone.now()
    return DetachedCall.objects.create(
        id=secrets.token_urlsafe(24),
        principal=caller.principal,
        context=caller.context,
        operation=operation.name,
        arguments=dict(interim.arguments),
        redacted=interim.redacted,
        replies=dict(replies),
        leased_until=now + LEASE,
        expires_at=now + RETENTION,
    )


def find(caller: Caller, call_id: str) -> DetachedCall:
    """Return one of the caller's own calls; a call whose process has ended has failed."""
    if unstorable(call_id):
        raise _no_such_call(call_id)
    _fail_lost(DetachedCall.objects.filter(pk=call_id))
    found = DetachedCall.objects.of(caller).filter(pk=call_id).first()
    if found is None:
        raise _no_such_call(call_id)
    return found


def _fail_lost(calls: QuerySet[DetachedCall]) -> None:
    now = timezone.now()
    lost = calls.filter(status=Status.WORKING, leased_until__lt=now)
    lost.update(status=Status.FAILED, outcome=LOST, updated_at=now, **UNSAID)


def _no_such_call(call_id: str) -> NotFound:
    return NotFound("there is no such task, or it has expired", id=call_id[:64])


def reply(caller: Caller, call_id: str, replies: Mapping[str, Any]) -> tuple[DetachedCall, bool]:
    """Store the person's replies; return whether all questions are answered now."""
    ensure_storable({"replies": replies})
    find(caller, call_id)
    with transaction.atomic():
        call = DetachedCall.objects.select_for_update().get(pk=call_id)
        asked = {key: replies[key] for key in replies if key in call.questions}
        call.replies |= asked
        call.questions = {k: asking for k, asking in call.questions.items() if k not in asked}
        is_ready = call.status == Status.INPUT_REQUIRED and not call.questions
        if is_ready:
            call.status = Status.WORKING
            call.leased_until = timezone.now() + LEASE
        call.save()
    return call, is_ready


def ask(call_id: str, questions: Mapping[str, Any]) -> None:
    _working(call_id).update(
        status=Status.INPUT_REQUIRED, questions=dict(questions), updated_at=timezone.now()
    )


def end(call_id: str, status: DetachedCall.Status, outcome: Mapping[str, Any]) -> None:
    """Store the outcome; a call that was cancelled in the meantime stays cancelled."""
    _working(call_id).update(
        status=status, outcome=dict(outcome), updated_at=timezone.now(), **UNSAID
    )


def cancel(caller: Caller, call_id: str) -> None:
    """Cancel the call; the process that works on it notices when it renews its lease."""
    found = find(caller, call_id)
    DetachedCall.objects.filter(pk=found.pk, status__in=DetachedCall.OPEN).update(
        status=Status.CANCELLED, questions={}, updated_at=timezone.now(), **UNSAID
    )


def renew(call_ids: Collection[str]) -> set[str]:
    """Renew the leases of these calls; return those that need no more work."""
    working = DetachedCall.objects.filter(pk__in=call_ids, status=Status.WORKING)
    working.update(leased_until=timezone.now() + LEASE)
    return set(call_ids) - set(working.values_list("pk", flat=True))


def forget_expired() -> int:
    """Delete expired calls, and the arguments of calls whose process has ended."""
    _fail_lost(DetachedCall.objects.all())
    deleted, _ = DetachedCall.objects.filter(expires_at__lt=timezone.now()).delete()
    return deleted


def _working(call_id: str) -> QuerySet[DetachedCall]:
    return DetachedCall.objects.filter(pk=call_id, status=Status.WORKING)

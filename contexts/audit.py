"""The record of who called what, and whether it was allowed."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import NOT_PROVIDED
from django.utils import timezone

from contextd.callers import Caller, Door, Principal
from contextd.errors import NotAllowed
from contextd.operations import Operation
from contexts.models import AuditEntry

NOTHING = "-"
AT_ONCE = 10_000

GIVEN = [
    field
    for field in AuditEntry._meta.concrete_fields
    if not field.primary_key and field.db_default is NOT_PROVIDED
]
COLUMNS = ", ".join(str(field.column) for field in GIVEN)
# Every call pays for this, so it is SQL. Sent together the two statements are one transaction,
# and nobody waits until it is on disk: a crash of the database loses its last moments.
INSERT = (
    "SET LOCAL synchronous_commit = off; "  # noqa: S608  (the names are ours)
    f"INSERT INTO {AuditEntry._meta.db_table} ({COLUMNS}) "
    f"VALUES ({', '.join('%s' for _ in GIVEN)})"
)


def record_call(operation: Operation, caller: Caller, category: str, seconds: float) -> None:
    insert(
        AuditEntry(
            principal=caller.principal,
            user_id=caller.user_id,
            operation=operation.canonical_name,
            context=caller.context,
            door=caller.door,
            client=caller.client,
            connection=caller.connection,
            outcome=category,
            was_allowed=category != NotAllowed.category,
            milliseconds=seconds * 1000,
        )
    )


def record_refusal(
    principal: Principal, context: str | None, door: Door, client: str, category: str
) -> None:
    """Of somebody who is known and was not let in."""
    insert(
        AuditEntry(
            principal=principal.name,
            user_id=principal.user_id,
            operation=NOTHING,
            context=context or principal.default_context or NOTHING,
            door=door,
            client=client,
            connection=NOTHING,
            outcome=category,
            was_allowed=False,
            milliseconds=0,
        )
    )


def insert(entry: AuditEntry) -> None:
    with connection.cursor() as cursor:
        cursor.execute(INSERT, list(storable(entry)))


def storable(entry: AuditEntry) -> Iterator[Any]:
    """Its values; a client that calls itself something that cannot be stored escapes nothing."""
    for field in GIVEN:
        value = getattr(entry, field.attname)
        if isinstance(value, str):
            value = "".join(filter(str.isprintable, value))[: field.max_length]
        yield value


def expire() -> None:
    """Delete what is older than CONTEXTD_AUDIT_DAYS, some at a time."""
    oldest = timezone.now() - timedelta(days=settings.CONTEXTD_AUDIT_DAYS)
    old = AuditEntry.objects.filter(at__lt=oldest).order_by("at").values("pk")[:AT_ONCE]
    while AuditEntry.objects.filter(pk__in=old).delete()[0]:
        pass

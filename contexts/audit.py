"""The record of who called what, and whether it was allowed."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import OperationalError, connection
from django.utils import timezone

from contextd.buffers import Buffer
from contextd.callers import ABSENT, DEFAULT_CONTEXT, Caller, Door, Principal
from contextd.operations import Operation
from contextd.validation import printable
from contexts.models import AuditEntry

ROWS_PER_DELETE = 10_000
WRITE_EVERY_SECONDS = 0.25

GIVEN = [field for field in AuditEntry._meta.concrete_fields if not field.primary_key]
# Every call pays for this, so it is SQL. Sent together, the two statements are one transaction, and
# nobody waits until it is on disk: a database crash loses the last moments. Users are locked first,
# in the order in which emptying all tables locks them, to avoid a deadlock. The join keeps the
# entries of others when a user was deleted in the meantime.
INSERT = """
SET LOCAL synchronous_commit = off; SELECT FROM auth_user LIMIT 0;
INSERT INTO {table} ({columns})
SELECT {values} FROM unnest({arrays}) AS entry ({columns})
LEFT JOIN auth_user ON auth_user.id = entry.user_id
"""

logger = logging.getLogger(__name__)

Entry = list[Any]
"""The values of one entry, in column order."""


def record_call(
    operation: Operation, caller: Caller, category: str, was_allowed: bool, seconds: float
) -> None:
    record(
        principal=caller.principal,
        user_id=caller.user_id,
        operation=operation.canonical_name,
        context=caller.context,
        door=caller.door,
        client=caller.client,
        connection=caller.connection,
        outcome=category,
        was_allowed=was_allowed,
        milliseconds=seconds * 1000,
    )


def record_refusal(
    principal: Principal, context: str | None, door: Door, client: str, category: str
) -> None:
    """Record that a known principal was refused."""
    record(
        principal=principal.name,
        user_id=principal.user_id,
        operation=ABSENT,
        context=context or principal.default_context or DEFAULT_CONTEXT,
        door=door,
        client=client,
        connection=ABSENT,
        outcome=category,
        was_allowed=False,
        milliseconds=0.0,
    )


def record(**values: Any) -> None:
    values["at"] = timezone.now()
    entry = [storable(values[field.attname], field.max_length) for field in GIVEN]
    if _buffer is None or not _buffer.add(entry):
        write_now(entry)


def storable(value: Any, max_length: int | None) -> Any:
    """Return the value with storable texts, so that no client evades the audit by its name."""
    return printable(value, max_length) if isinstance(value, str) else value


def write_now(entry: Entry) -> None:
    try:
        write([entry])
    except OperationalError as error:
        logger.warning("a call is missing from the audit: %s", error)


def write(entries: Sequence[Entry]) -> None:
    columns = [list(column) for column in zip(*entries, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(insert(), columns)


def insert() -> str:
    columns = [str(field.column) for field in GIVEN]
    return INSERT.format(
        table=AuditEntry._meta.db_table,
        columns=", ".join(columns),
        values=", ".join("auth_user.id" if c == "user_id" else f"entry.{c}" for c in columns),
        arrays=", ".join(f"%s::{field.db_type(connection)}[]" for field in GIVEN),
    )


_buffer: Buffer[Entry] | None = None


def collect() -> None:
    """Write entries in batches from now on; a process that is killed loses the last ones."""
    global _buffer
    _buffer = Buffer("entries of the audit", write, WRITE_EVERY_SECONDS)


def write_collected() -> None:
    """Write the remaining entries, and write each entry at once from now on."""
    global _buffer
    if _buffer is not None:
        buffer, _buffer = _buffer, None
        buffer.flush()


def expire() -> None:
    """Delete entries older than CONTEXTD_AUDIT_DAYS, in batches."""
    oldest = timezone.now() - timedelta(days=settings.CONTEXTD_AUDIT_DAYS)
    old = AuditEntry.objects.filter(at__lt=oldest).order_by("at").values("pk")[:ROWS_PER_DELETE]
    while AuditEntry.objects.filter(pk__in=old).delete()[0]:
        pass

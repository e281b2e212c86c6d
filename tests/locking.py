"""Calls that compete for the same rows."""

from typing import Any

from django.db import connection

from tests.conftest import Call
from tests.waiting import wait_for

WAITING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
"""
MAX_WAIT_SECONDS = 10


def in_thread(call: Call, name: str, **arguments: Any) -> Any:
    """Call an operation from a thread, and close its connection afterwards."""
    try:
        return call(name, **arguments)
    finally:
        connection.close()


def wait_for_somebody_waiting() -> None:
    """Wait until another connection waits for a row that is locked here."""
    with connection.cursor() as cursor:

        def is_somebody_waiting() -> bool:
            # Within a transaction the view keeps the rows of its first read.
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(WAITING)
            return bool(cursor.fetchone()[0])

        wait_for(is_somebody_waiting, MAX_WAIT_SECONDS)

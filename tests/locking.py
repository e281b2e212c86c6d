"""Two that want the same rows at once."""

import time
from typing import Any

from django.db import connection

from tests.conftest import Call

WAITING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
"""
LONGEST_WAIT = 10


def in_thread(call: Call, name: str, **arguments: Any) -> Any:
    """Call an operation in a thread that keeps no connection afterwards."""
    try:
        return call(name, **arguments)
    finally:
        connection.close()


def wait_for_somebody_waiting() -> None:
    """Until another connection waits for a row that is locked here."""
    until = time.monotonic() + LONGEST_WAIT
    with connection.cursor() as cursor:
        while time.monotonic() < until:
            # Within a transaction the view stays what it was when it was first read.
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(WAITING)
            if cursor.fetchone()[0]:
                return
            time.sleep(0.01)
    raise AssertionError("nobody waits")

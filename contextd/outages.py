"""What callers see while the database cannot be reached."""

import asyncio
import logging
import threading
import time

import psycopg
from django.db import OperationalError, connection
from psycopg import pq
from psycopg.conninfo import make_conninfo
from psycopg_pool import PoolTimeout

from contextd import errors, logs
from contextd.errors import Busy, ContextdError, Unavailable

NO_ANSWER = (
    "the database does not answer; try again later, or contact the administrators of this server"
)
ALL_IN_USE = "all connections to the database are in use; try again later"
CONNECTION_LOST = ("08", "57P")
"""Prefixes of the error codes with which Postgres closes or refuses connections."""
PING_SECONDS = 1
ANSWER_KEPT_SECONDS = 1.0
ADDRESS = ("host", "port", "dbname", "user", "password")

logger = logging.getLogger(__name__)


def as_public_error(what: str, error: Exception) -> ContextdError:
    """Return what the caller may see of an unexpected exception.

    This may wait for the database; coroutines await `as_public_error_in_thread`.
    """
    return as_outage(error) or errors.report_bug(what, error)


async def as_public_error_in_thread(what: str, error: Exception) -> ContextdError:
    return await asyncio.to_thread(as_public_error, what, error)


def as_outage(error: Exception) -> ContextdError | None:
    """Return the error that callers see if the database cannot be reached, else None."""
    cause = error.__cause__
    if not isinstance(error, OperationalError) or not isinstance(cause, psycopg.Error):
        return None
    if cause.sqlstate and not cause.sqlstate.startswith(CONNECTION_LOST):
        return None
    if isinstance(cause, PoolTimeout) and _reachability.check():
        return Busy(ALL_IN_USE)
    logs.warn_seldom(logger, f"the database does not answer: {cause}")
    return Unavailable(NO_ANSWER)


class Reachability:
    """Tracks whether the database accepts connections; one thread at a time checks.

    A pool times out whether the database is down or merely has no free connection.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known_until = 0.0
        self._is_reachable = False

    def check(self) -> bool:
        with self._lock:
            if time.monotonic() >= self._known_until:
                self._is_reachable = _ping()
                self._known_until = time.monotonic() + ANSWER_KEPT_SECONDS
            return self._is_reachable


_reachability = Reachability()


def _ping() -> bool:
    parameters = connection.get_connection_params()
    address = {name: parameters[name] for name in ADDRESS if name in parameters}
    conninfo = make_conninfo(**address, connect_timeout=PING_SECONDS)
    return pq.PGconn.ping(conninfo.encode()) == pq.Ping.OK

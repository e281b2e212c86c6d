"""What callers are told while the database cannot be asked."""

import logging

import psycopg
from django.db import OperationalError, connection
from psycopg import pq
from psycopg.conninfo import make_conninfo
from psycopg_pool import PoolTimeout

from contextd import errors, logs
from contextd.errors import Busy, ContextdError, Unavailable

NO_ANSWER = "the database does not answer; try again later, or tell whoever runs this server"
ALL_IN_USE = "all connections to the database are in use; try again later"
CONNECTION_LOST = ("08", "57P")
"""How the codes of errors begin with which Postgres ends connections or makes none."""
PING_SECONDS = 1
ADDRESS = ("host", "port", "dbname", "user", "password")

logger = logging.getLogger(__name__)


def conceal(what: str, error: Exception) -> ContextdError:
    """What the caller may see of an exception that nobody handled."""
    return told_of(error) or errors.conceal(what, error)


def told_of(error: Exception) -> ContextdError | None:
    """None where the error does not mean that the database cannot be asked."""
    cause = error.__cause__
    if not isinstance(error, OperationalError) or not isinstance(cause, psycopg.Error):
        return None
    if cause.sqlstate and not cause.sqlstate.startswith(CONNECTION_LOST):
        return None
    if isinstance(cause, PoolTimeout) and answers():
        return Busy(ALL_IN_USE)
    logs.warn_seldom(logger, f"the database does not answer: {cause}")
    return Unavailable(NO_ANSWER)


def answers() -> bool:
    """Whether it takes connections at all. A pool waits for one in vain either way."""
    parameters = connection.get_connection_params()
    address = {name: parameters[name] for name in ADDRESS if name in parameters}
    told = make_conninfo(**address, connect_timeout=PING_SECONDS)
    return pq.PGconn.ping(told.encode()) == pq.Ping.OK

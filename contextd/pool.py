"""Keeps database connections for the next call."""

from django.conf import settings
from django.db import connection


def keep_connections() -> None:
    """Enable the pool, in processes that serve many calls, before their first query.

    Commands do without: when the database does not answer, a pool would retry repeatedly.
    """
    connection.settings_dict["OPTIONS"]["pool"] = settings.DATABASE_POOL

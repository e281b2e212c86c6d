"""Connections to the database that are kept for the next call."""

from django.conf import settings
from django.db import connection


def keep_connections() -> None:
    """For processes that serve many calls, before their first query.

    A command does without: when the database does not answer, a pool would try again and again.
    """
    connection.settings_dict["OPTIONS"]["pool"] = settings.DATABASE_POOL

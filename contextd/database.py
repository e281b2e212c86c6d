"""Checks that the database server offers what contextd needs."""

from django.db import connection

from contextd.embedded import StartError

MIN_POSTGRES = 15
MIN_EXTENSIONS = {"vector": (0, 8), "pg_trgm": (1, 0)}

_VERSIONS = """
SELECT name, installed_version, default_version FROM pg_available_extensions WHERE name = ANY(%s)
"""


def ensure_suitable() -> None:
    """Raise StartError, naming what is missing and what to do, unless contextd can run on it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int / 10000")
        (postgres,) = cursor.fetchone()
        if postgres < MIN_POSTGRES:
            raise StartError(
                f"the database (DATABASE_URL) is PostgreSQL {postgres};"
                f" contextd needs {MIN_POSTGRES} or newer"
            )
        cursor.execute(_VERSIONS, [list(MIN_EXTENSIONS)])
        versions = {name: (installed, offered) for name, installed, offered in cursor.fetchall()}
    for name, minimum in MIN_EXTENSIONS.items():
        installed, offered = versions.get(name, (None, None))
        needed = f"{name} {'.'.join(map(str, minimum))} or newer"
        if _numbers(offered) < minimum:
            raise StartError(
                f"the server of the database (DATABASE_URL) has no extension {needed};"
                " install it there"
            )
        if installed and _numbers(installed) < minimum:
            raise StartError(
                f"the database (DATABASE_URL) has {name} {installed}, and contextd needs {needed};"
                f" run ALTER EXTENSION {name} UPDATE in it"
            )


def _numbers(version: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in (version or "").split(".") if part.isdigit())

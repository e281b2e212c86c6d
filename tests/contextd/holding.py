"""What this process holds while requests wait: threads, and connections to the database."""

import asyncio
import threading
import time
from dataclasses import dataclass

from django.db import connection

CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
LET_GO_SECONDS = 5


@dataclass(frozen=True)
class Held:
    threads: int
    connections: int


async def now() -> Held:
    connections = await asyncio.to_thread(_connections)
    return Held(threading.active_count(), connections)


async def at_last(most_threads: int) -> Held:
    """Once threads that were let go of have ended, as they do when they can."""
    until = time.monotonic() + LET_GO_SECONDS
    while threading.active_count() > most_threads and time.monotonic() < until:
        await asyncio.sleep(0.1)
    return await now()


def _connections() -> int:
    """As asked by a thread that keeps none itself."""
    with connection.cursor() as cursor:
        cursor.execute(CONNECTIONS)
        number: int = cursor.fetchone()[0]
    connection.close()
    return number

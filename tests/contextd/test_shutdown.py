"""A server that is told to end while calls are running."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.db import connection

from contextd import gate
from tests.plain_http import ACCEPT, ask
from tests.server import Server, environment_of_processes, eventually, web_process

MAX_STOP_SECONDS = 10
RUNNING = """
SELECT count(*) FROM pg_stat_activity
WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active' AND datname = current_database()
"""


@pytest.fixture
def ending(transactional_db: None, tmp_path: Path) -> Iterator[Server]:
    with web_process(environment_of_processes(), tmp_path / "log") as server:
        yield server
    assert eventually(lambda: running() == 0)  # the database ends queries of ended processes late


def test_running_calls_are_answered_at_the_end_of_the_server(ending: Server) -> None:
    def over_mcp(seconds: int) -> Any:
        return ask(http, "tools/call", name="door_wait", arguments={"seconds": seconds})

    def over_rest(seconds: int) -> Any:
        with suppress(httpx2.RemoteProtocolError):  # its thread cannot be cancelled
            return http.post("/api/v1/door_wait", json={"seconds": seconds}).json()

    with (
        httpx2.Client(base_url=ending.url, headers={"Accept": ACCEPT}, timeout=30) as http,
        ThreadPoolExecutor() as threads,
    ):
        calls = [
            threads.submit(call, seconds) for seconds in (4, 12) for call in (over_mcp, over_rest)
        ]
        assert eventually(lambda: running() == len(calls))
        started = time.monotonic()
        os.kill(ending.pid, signal.SIGTERM)
        os.waitid(os.P_PID, ending.pid, os.WEXITED | os.WNOWAIT)
        stopped = time.monotonic() - started
        answers = [call.result() for call in calls]

    assert stopped < MAX_STOP_SECONDS
    assert answers[0]["structuredContent"]["text"] == answers[1]["text"] == "awake"
    assert answers[2]["data"]["message"] == gate.STOPPING
    assert answers[3] is None


def running() -> int:
    with connection.cursor() as cursor:
        cursor.execute(RUNNING)
        (count,) = cursor.fetchone()
    return int(count)

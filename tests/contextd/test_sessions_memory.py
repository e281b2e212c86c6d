"""Memory of a web process after its sessions have ended."""

import os
from pathlib import Path

import httpx2
import pytest

from contextd import sessions
from contextd.models import Session
from tests.plain_http import ACCEPT, initialize
from tests.server import Server

WARMING_UP = 150
DROPPED = 300
# Kept whole, a session takes about 40; the process itself may still grow by some thousand.
KIB_PER_SESSION = 20

pytestmark = pytest.mark.django_db(transaction=True)


def test_sessions_that_are_dropped_leave_nothing_behind(
    one_server: Server,
) -> None:
    with httpx2.Client(base_url=one_server.url, headers={"Accept": ACCEPT}, timeout=20) as client:
        for _ in range(WARMING_UP):
            client.post("/mcp", json=initialize("2025-11-25"))
        before = resident_kib(one_server.pid)

        for _ in range(DROPPED):
            client.post("/mcp", json=initialize("2025-11-25"))

    assert Session.objects.count() == sessions.MAX_PER_PRINCIPAL
    assert (resident_kib(one_server.pid) - before) / DROPPED < KIB_PER_SESSION


def resident_kib(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024

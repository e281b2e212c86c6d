"""`make bench`, sessions: the cost of a call in a session, and the memory of dropped sessions."""

import http.client
import itertools
import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

from benchmarks import report, server

OPENED = 10_000
CALLS = 2_000
VERSION = "2025-11-25"
CLIENT = {"name": "benchmark", "version": "1"}
INITIALIZE = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": CLIENT}


class Session:
    """A session of 2025-11-25 on a connection that stays open."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection
        self._ids = itertools.count(1)
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        opened = self._post({"method": "initialize", "params": INITIALIZE, "id": next(self._ids)})
        self._headers["MCP-Protocol-Version"] = VERSION
        self._headers["Mcp-Session-Id"] = opened.getheader("mcp-session-id", "")
        self._post({"method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> float:
        """Return how many milliseconds the answer took."""
        started = time.perf_counter()
        answer = self._post({"method": method, "params": params, "id": next(self._ids)})
        if answer.status != http.HTTPStatus.OK:
            raise RuntimeError(f"{method} was answered by {answer.status}")
        return (time.perf_counter() - started) * 1000

    def _post(self, message: dict[str, Any]) -> http.client.HTTPResponse:
        self._connection.request(
            "POST", "/mcp", json.dumps({"jsonrpc": "2.0", **message}), self._headers
        )
        response = self._connection.getresponse()
        response.read()
        return response


def cpu_milliseconds(process: Path) -> float:
    fields = (process / "stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def resident_kib(process: Path) -> int:
    fields = (process / "statm").read_text(encoding="ascii").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def cost(session: Session, process: Path, method: str, params: dict[str, Any]) -> list[str]:
    """Return a row: the median latency of a call, and its CPU time on the server."""
    for _ in range(100):
        session.ask(method, params)
    before = cpu_milliseconds(process)
    times = [session.ask(method, params) for _ in range(CALLS)]
    spent = (cpu_milliseconds(process) - before) / CALLS
    name = params.get("name", method)
    return [str(name), f"{statistics.median(times):.2f}", f"{spent:.2f}"]


def main() -> None:
    with server.running(server.SHIPPED) as running:
        process = Path("/proc", str(server.part_of(running, server.WEB).pid))
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=60)
        session = Session(connection)
        rows = [
            cost(session, process, "ping", {}),
            cost(session, process, "tools/call", {"name": "checkpoint_list", "arguments": {}}),
        ]
        for _ in range(OPENED // 10):
            Session(connection)
        before = resident_kib(process)
        started = time.perf_counter()
        for _ in range(OPENED):
            Session(connection)
        opening = (time.perf_counter() - started) * 1000 / OPENED
        growth = (resident_kib(process) - before) / OPENED
    text = (
        f"{report.table(['call in a session', 'p50 ms', 'CPU ms of the server'], rows)}\n\n"
        f"{OPENED} sessions opened and dropped: {opening:.1f} ms each, "
        f"and the web process grew by {growth:.2f} KiB each."
    )
    report.write("sessions", "Sessions", "make bench", text)


if __name__ == "__main__":
    main()

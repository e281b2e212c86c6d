"""`make bench`, door: a tool that does nothing, on contextd and on the bare SDK, in one run."""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks import mcp, report, server

SESSIONS = 16
CALLS = 100
ROUNDS = 5
MIN_SHARE = 0.6


async def calls_per_second(port: int) -> float:
    """Measure the rate when each client calls again as soon as it has an answer."""
    clients = [await asyncio.open_connection("127.0.0.1", port) for _ in range(SESSIONS)]
    request = mcp.http_request(port, "noop", {})
    started = time.perf_counter()
    await asyncio.gather(*(call_repeatedly(*client, request) for client in clients))
    seconds = time.perf_counter() - started
    for _, writer in clients:
        writer.close()
    return SESSIONS * CALLS / seconds


async def call_repeatedly(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
) -> None:
    for _ in range(CALLS):
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        body = await reader.readexactly(length)
        if b'"ok"' not in body:
            raise RuntimeError(f"the tool failed: {body[:500]!r}")


@contextmanager
def bare() -> Iterator[int]:
    port = server.free_port()
    command = [sys.executable, "-m", "uvicorn", "benchmarks.noop.bare:application"]
    options = ["--port", str(port), "--log-level", "warning"]
    process = subprocess.Popen([*command, *options], cwd=server.ROOT)  # noqa: S603
    try:
        wait_until_listening(port)
        yield port
    finally:
        process.terminate()
        process.wait(30)


def wait_until_listening(port: int) -> None:
    until = time.monotonic() + server.START_SECONDS
    while time.monotonic() < until:
        try:
            asyncio.run(calls_per_second(port))
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError("the bare server did not start")


def measure() -> list[tuple[float, float]]:
    """Alternate between the two, so that other load on the machine affects both."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.noop.settings"
    with bare() as bare_port, server.running(server.SHIPPED) as ours:
        asyncio.run(calls_per_second(ours.port))
        return [
            (asyncio.run(calls_per_second(bare_port)), asyncio.run(calls_per_second(ours.port)))
            for _ in range(ROUNDS)
        ]


def main() -> None:
    rates = measure()
    share = statistics.median(ours / theirs for theirs, ours in rates)
    rows = [[f"{theirs:.0f}", f"{ours:.0f}", f"{ours / theirs:.0%}"] for theirs, ours in rates]
    table = report.table(["bare SDK, calls/s", "contextd, calls/s", "share"], rows)
    text = (
        f"A tool that does nothing, called by {SESSIONS} concurrent clients over keep-alive HTTP, "
        f"protocol {mcp.PROTOCOL}, rate limits off, with authentication, context and audit.\n\n"
        f"{table}\n\nMedian share: {share:.0%}."
    )
    report.write("door", "The MCP door compared with the bare SDK", "make bench", text)
    sys.exit(share < MIN_SHARE)


if __name__ == "__main__":
    main()

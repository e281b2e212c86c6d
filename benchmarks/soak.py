"""`make soak`: continuous calls while upstreams and the gateway itself are killed at random.

SOAK_MINUTES sets the duration, 20 by default. It fails when a call is lost (no answer at all), when
most calls fail, or when memory, processes or file descriptors of the gateway or the web server
grow. The gateway is killed in the first half only, so that growth shows in the second.
"""

import asyncio
import os
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass

import psutil
import psycopg

from benchmarks import report, server
from benchmarks.upstream import COMMAND, Door, add
from contextd import embedded

MINUTES = float(os.environ.get("SOAK_MINUTES", "20"))
CLIENTS = 8
ANSWER_SECONDS = 90
KILL_EVERY = (5, 25)
"""Seconds, minimum and maximum. A process that ends within half a minute restarts ever later."""
GATEWAY_LIVES = 65
"""Seconds before it is killed; `up` gives up a process that repeatedly ends within a minute."""
TOOLS = {
    "odd__echo": 2000,
    "odd__add": 2000,
    "odd__crash": 1,
    "calm__echo": 2000,
    "calm__add": 2000,
}
"""Relative frequencies: at some hundred calls per second, about one crash per minute."""
REFUSED_SECONDS = 0.5
"""Seconds that refused clients wait; otherwise most calls would occur without an upstream."""
SETTLE_SECONDS = 20
# Otherwise an upstream that is killed every few seconds would be given up.
MANY_RESTARTS = """
UPDATE gateway_upstream SET restart_attempts = 1000, restart_backoff_ms = 200, updated_at = now()
"""
MAX_GROWTH_MB = 50
MAX_MORE_FILES = 20


@dataclass(frozen=True)
class Weight:
    """The resources that a process and its descendants hold."""

    processes: int
    files: int
    megabytes: float

    def has_grown_since(self, before: "Weight") -> bool:
        return (
            self.processes > before.processes
            or self.files > before.files + MAX_MORE_FILES
            or self.megabytes > before.megabytes + MAX_GROWTH_MB
        )


def gateway_of(ours: server.Server) -> psutil.Process:
    return server.part_of(ours, "gateway_run")


def weigh(ours: server.Server) -> list[Weight]:
    """Weigh the gateway and the web server."""
    return [
        Weight(
            processes=len(process.children(recursive=True)),
            files=process.num_fds(),
            megabytes=process.memory_info().rss / 2**20,
        )
        for process in (gateway_of(ours), server.part_of(ours, server.WEB))
    ]


async def call_on(port: int, until: float, outcomes: Counter[str]) -> None:
    async with Door(port) as door:
        while time.monotonic() < until:
            (tool,) = random.choices([*TOOLS], [*TOOLS.values()])  # noqa: S311
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    answer = await door.call(tool, a=1, b=2)
            except TimeoutError:
                outcomes["lost"] += 1
                return
            has_failed = "error" in answer or answer.get("result", {}).get("isError")
            outcomes["failed" if has_failed else "ok"] += 1
            await asyncio.sleep(REFUSED_SECONDS if has_failed else 0.01)


async def kill_on(
    ours: server.Server, until: float, outcomes: Counter[str], *, gateway_too: bool
) -> None:
    while time.monotonic() < until:
        await asyncio.sleep(random.uniform(*KILL_EVERY))  # noqa: S311
        try:
            gateway = gateway_of(ours)
            upstreams = gateway.children()
            is_old = time.time() - gateway.create_time() > GATEWAY_LIVES
            victim = gateway if gateway_too and is_old else random.choice(upstreams)  # noqa: S311
            victim.kill()
            outcomes["kills"] += 1
        except (RuntimeError, IndexError, psutil.NoSuchProcess):
            continue  # it is restarting


async def soak(ours: server.Server, outcomes: Counter[str], *, gateway_too: bool) -> None:
    """Run for half of the whole time."""
    until = time.monotonic() + MINUTES * 60 / 2
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(kill_on(ours, until, outcomes, gateway_too=gateway_too))
        for _ in range(CLIENTS):
            tasks.create_task(call_on(ours.port, until, outcomes))
    await asyncio.sleep(SETTLE_SECONDS)


def described(outcomes: Counter[str], before: list[Weight], after: list[Weight], left: int) -> str:
    rows = [
        [name, when, str(weight.processes), str(weight.files), f"{weight.megabytes:.0f}"]
        for when, weights in (("after half of the time", before), ("at the end", after))
        for name, weight in zip(("gateway", "web server"), weights, strict=True)
    ]
    table = report.table(["process", "when", "processes", "open files", "MiB"], rows)
    return (
        f"{CLIENTS} clients called two stdio upstreams for {MINUTES:g} minutes over `/mcp`. "
        f"Processes killed: {outcomes['kills']}. Calls answered with a result: {outcomes['ok']}, "
        f"with an error: {outcomes['failed']}, not at all: {outcomes['lost']}. "
        f"Processes of upstreams left behind: {left}.\n\n{table}"
    )


def main() -> None:
    with server.running() as ours:
        for namespace in ("odd", "calm"):
            add(ours, namespace, COMMAND)
        with psycopg.connect(embedded.database_url(ours.data_dir)) as connection:
            connection.execute(MANY_RESTARTS)
        outcomes: Counter[str] = Counter()
        asyncio.run(soak(ours, outcomes, gateway_too=True))
        before = weigh(ours)
        asyncio.run(soak(ours, outcomes, gateway_too=False))
        after = weigh(ours)
    left = [
        one
        for one in psutil.process_iter(["cmdline"])
        if COMMAND[-1] in (one.info["cmdline"] or [])
    ]
    text = described(outcomes, before, after, len(left))
    report.write("soak", "Upstreams and the gateway, killed at random", "make soak", text)
    has_grown = any(now.has_grown_since(then) for now, then in zip(after, before, strict=True))
    was_served = outcomes["ok"] > outcomes["failed"]
    sys.exit(bool(outcomes["lost"] or not was_served or left or has_grown))


if __name__ == "__main__":
    main()

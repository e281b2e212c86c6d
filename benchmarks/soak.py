"""`make soak`: calls without end while upstreams and the gateway itself are killed at random.

SOAK_MINUTES says how long, 20 unless given. It fails when a call is lost (no answer at all), or
when memory, processes or file descriptors grow.
"""

import asyncio
import os
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass

import psutil

from benchmarks import server
from benchmarks.upstream import COMMAND, Door, add

MINUTES = float(os.environ.get("SOAK_MINUTES", "20"))
CLIENTS = 8
ANSWER_SECONDS = 90
KILL_EVERY = (2, 8)
GATEWAY_SHARE = 0.1
TOOLS = ["odd__echo", "odd__add", "odd__crash", "calm__echo", "calm__add"]
SETTLE_SECONDS = 20
MOST_GROWTH_MB = 50
MOST_MORE_FILES = 20


@dataclass(frozen=True)
class Weight:
    """What the gateway and all below it hold."""

    processes: int
    files: int
    megabytes: float


def gateway_of(ours: server.Server) -> psutil.Process:
    """It is started again by `up`, so it is looked for each time."""
    for child in psutil.Process(ours.process.pid).children():
        if "gateway_run" in " ".join(child.cmdline()):
            return child
    raise RuntimeError("there is no gateway")


def weigh(ours: server.Server) -> Weight:
    gateway = gateway_of(ours)
    return Weight(
        processes=len(gateway.children(recursive=True)),
        files=gateway.num_fds(),
        megabytes=gateway.memory_info().rss / 2**20,
    )


async def call_on(port: int, until: float, outcomes: Counter[str]) -> None:
    async with Door(port) as door:
        while time.monotonic() < until:
            tool = random.choice(TOOLS)  # noqa: S311
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    answer = await door.call(tool, a=1, b=2)
            except TimeoutError:
                outcomes["lost"] += 1
                return
            result = answer.get("result", {})
            outcomes["failed" if "error" in answer or result.get("isError") else "ok"] += 1
            await asyncio.sleep(0.01)


async def kill_on(ours: server.Server, until: float, outcomes: Counter[str]) -> None:
    while time.monotonic() < until:
        await asyncio.sleep(random.uniform(*KILL_EVERY))  # noqa: S311
        try:
            gateway = gateway_of(ours)
            upstreams = gateway.children()
            is_gateway = random.random() < GATEWAY_SHARE  # noqa: S311
            victim = gateway if is_gateway or not upstreams else random.choice(upstreams)  # noqa: S311
            victim.kill()
            outcomes["kills"] += 1
        except (RuntimeError, psutil.NoSuchProcess):
            continue  # it is being started again


async def soak(ours: server.Server) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    until = time.monotonic() + MINUTES * 60
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(kill_on(ours, until, outcomes))
        for _ in range(CLIENTS):
            tasks.create_task(call_on(ours.port, until, outcomes))
    return outcomes


def main() -> None:
    with server.running() as ours:
        for namespace in ("odd", "calm"):
            add(ours, namespace, COMMAND)
        before = weigh(ours)
        outcomes = asyncio.run(soak(ours))
        time.sleep(SETTLE_SECONDS)
        after = weigh(ours)
    left = [
        one
        for one in psutil.process_iter(["cmdline"])
        if COMMAND[-1] in (one.info["cmdline"] or [])
    ]
    print(f"{MINUTES:g} minutes: {dict(outcomes)}\nbefore: {before}\nafter: {after}")  # noqa: T201
    print(f"left behind: {len(left)}")  # noqa: T201
    has_grown = (
        after.processes > before.processes
        or after.files > before.files + MOST_MORE_FILES
        or after.megabytes > before.megabytes + MOST_GROWTH_MB
    )
    sys.exit(bool(outcomes["lost"] or not outcomes["ok"] or left or has_grown))


if __name__ == "__main__":
    main()

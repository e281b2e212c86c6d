"""`make bench`, gateway: a tool of an upstream, called directly and through contextd; the lists."""

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable

from benchmarks import report, server
from benchmarks.upstream import COMMAND, Door, add, direct

CALLS = 500
LISTS = 200
WARM_UP = 50
WANTED_MS = 5.0
WANTED_LIST_MS = 20.0

WEDGING_SECONDS = 1
"""Seconds until the call that wedges the upstream has arrived there."""

Call = Callable[[], Awaitable[object]]


async def times(call: Call, number: int = CALLS) -> list[float]:
    """Time sequential calls, in milliseconds."""
    for _ in range(WARM_UP):
        await call()
    taken = []
    for _ in range(number):
        started = time.perf_counter()
        await call()
        taken.append((time.perf_counter() - started) * 1000)
    return taken


async def measure(port: int) -> dict[str, list[float]]:
    async with direct() as straight, Door(port) as door:
        return {
            "directly, over stdio": await times(straight),
            "through contextd": await times(lambda: door.call("odd__echo")),
        }


async def measure_lists(port: int) -> list[float]:
    """Time `tools/list` while an upstream answers nothing."""
    async with Door(port) as stuck, Door(port) as door:
        wedged = asyncio.create_task(stuck.call("stuck__wedge"))
        await asyncio.sleep(WEDGING_SECONDS)
        taken = await times(door.list_tools, LISTS)
        if wedged.done():
            raise RuntimeError(f"the upstream was to answer nothing: {wedged.result()}")
        wedged.cancel()
        return taken


def row(name: str, taken: list[float]) -> list[str]:
    return [name, f"{statistics.median(taken):.2f}", f"{p95(taken):.2f}"]


def p95(taken: list[float]) -> float:
    return statistics.quantiles(taken, n=20)[18]


def main() -> None:
    with server.running() as ours:
        add(ours, "odd", "--command", *COMMAND)
        add(ours, "stuck", "--command", *COMMAND)
        taken = asyncio.run(measure(ours.port))
        listed = asyncio.run(measure_lists(ours.port))
    straight, through = (statistics.median(one) for one in taken.values())
    added = through - straight
    rows = [*taken.items(), ("`tools/list` while an upstream answers nothing", listed)]
    table = report.table(["call", "p50, ms", "p95, ms"], [row(*one) for one in rows])
    text = (
        f"One client, {CALLS} sequential calls over keep-alive HTTP, with authentication, "
        f"context and audit.\n\n{table}\n\nAdded at p50: {added:.2f} ms; the goal: {WANTED_MS} ms. "
        f"The goal for a list at p95: {WANTED_LIST_MS} ms; "
        f"measured: {p95(listed):.2f} ms."
    )
    report.write("gateway", "An upstream through the gateway", "make bench", text)
    sys.exit(added > WANTED_MS or p95(listed) > WANTED_LIST_MS)


if __name__ == "__main__":
    main()

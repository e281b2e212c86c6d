"""`make soak`: continuous calls while upstreams and the gateway itself are killed at random.

Upstreams are called over stdio, HTTP and, where there is or can be a Docker engine, docker exec.
SOAK_MINUTES sets the duration, 20 by default. It ends with status 1 and a line for each check that
failed: a call without an answer or with that of another call, a transport over which most calls
failed, something left behind, growth. The gateway is killed in the first quarter only, so that it
has warmed up after the first half, and growth shows in the second.
"""

import asyncio
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import psutil
import psycopg

from benchmarks import report, server, victims
from benchmarks.findings import Findings, Rest, Weight
from benchmarks.upstream import Door, add, manage, wait_until_ready
from benchmarks.victims import Victim
from contextd import embedded
from tests.gateway.engine import NoEngine

MINUTES = float(os.environ.get("SOAK_MINUTES", "20"))
CLIENTS = 3
"""Of each transport."""
ANSWER_SECONDS = 90
NO_ANSWER = (OSError, EOFError, ValueError)
"""Errors of a call without a usable answer; a timeout is an OSError."""
KILL_EVERY = (2, 12)
"""Seconds, minimum and maximum. A process that ends within half a minute restarts ever later."""
GATEWAY_LIVES = 65
"""Seconds before it is killed; `up` gives up a process that repeatedly ends within a minute."""
REFUSED_SECONDS = 0.5
"""Seconds that refused clients wait; otherwise most calls would occur without an upstream."""
SETTLE_SECONDS = 20
READY_SECONDS = 90
"""More than the longest pause between two attempts to start an upstream."""
REMOVAL_SECONDS = 30
# Otherwise an upstream that is killed every few seconds would be given up.
MANY_RESTARTS = """
UPDATE gateway_upstream SET restart_attempts = 1000, restart_backoff_ms = 200, updated_at = now()
"""


class Soak:
    """A server with the upstreams that are called and killed."""

    def __init__(self, ours: server.Server, upstreams: list[Victim], findings: Findings) -> None:
        self._ours, self._upstreams, self._findings = ours, upstreams, findings

    async def run(self) -> None:
        quarter = MINUTES * 60 / 4
        for gateway_seconds in (quarter, 0):
            now = time.monotonic()
            await self._run_half(now + 2 * quarter, now + gateway_seconds)
            self._findings.rests.append(await self._settle())

    async def _run_half(self, until: float, gateway_until: float) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._kill(until, gateway_until))
            for transport in {one.transport for one in self._upstreams}:
                for _ in range(CLIENTS):
                    tasks.create_task(self._call(transport, until))

    async def _call(self, transport: str, until: float) -> None:
        outcomes = self._findings.outcomes[transport]
        upstreams = [one for one in self._upstreams if one.transport == transport]
        while time.monotonic() < until:
            try:
                async with Door(self._ours.port) as door:
                    await call_through(door, upstreams, outcomes, until)
            except NO_ANSWER:
                outcomes["lost"] += 1
                await asyncio.sleep(REFUSED_SECONDS)

    async def _kill(self, until: float, gateway_until: float) -> None:
        while True:
            for upstream in random.sample(self._upstreams, len(self._upstreams)):
                await asyncio.sleep(random.uniform(*KILL_EVERY))  # noqa: S311
                if time.monotonic() > until:
                    return
                if time.monotonic() < gateway_until and self._has_killed_gateway():
                    self._findings.kills["gateway"][victims.PROCESSES] += 1
                elif killed := await asyncio.to_thread(upstream.kill):
                    self._findings.kills[upstream.transport][killed] += 1

    def _has_killed_gateway(self) -> bool:
        try:
            gateway = server.part_of(self._ours, "gateway_run")
            if time.time() - gateway.create_time() < GATEWAY_LIVES:
                return False
            gateway.kill()
        except (RuntimeError, psutil.NoSuchProcess):
            return False  # it is restarting
        return True

    async def _settle(self) -> Rest:
        """Return what there is once all upstreams are ready again."""
        await asyncio.sleep(SETTLE_SECONDS)
        not_ready = await asyncio.to_thread(wait_until_ready, self._ours, READY_SECONDS)
        running = {one.namespace: one.count() for one in self._upstreams}
        return Rest(weigh(self._ours), running, not_ready)


async def call_through(
    door: Door, upstreams: list[Victim], outcomes: Counter[str], until: float
) -> None:
    while time.monotonic() < until:
        upstream = random.choice(upstreams)  # noqa: S311
        (tool,) = random.choices([*upstream.tools], [*upstream.tools.values()])  # noqa: S311
        number = random.randrange(10**9, 10**10)  # noqa: S311
        async with asyncio.timeout(ANSWER_SECONDS):
            answer = await door.call(f"{upstream.namespace}__{tool}", a=number, b=0)
        outcome = outcome_of(answer, number)
        outcomes[outcome] += 1
        await asyncio.sleep(0.01 if outcome == "ok" else REFUSED_SECONDS)


def outcome_of(answer: dict[str, Any], number: int) -> str:
    """Return `wrong` for a result without the number that the call contained."""
    result = answer.get("result", {})
    if "error" in answer or result.get("isError"):
        return "failed"
    return "ok" if str(number) in json.dumps(result) else "wrong"


def weigh(ours: server.Server) -> list[Weight]:
    """Weigh the gateway and the web server."""
    return [
        Weight(
            name=name,
            processes=len(process.children(recursive=True)),
            files=process.num_fds(),
            megabytes=process.memory_info().rss / 2**20,
        )
        for name, process in (
            ("gateway", server.part_of(ours, "gateway_run")),
            ("web server", server.part_of(ours, server.WEB)),
        )
    ]


@contextmanager
def upstreams_of_all_transports(port: int) -> Iterator[tuple[list[Victim], str]]:
    """Yield the upstreams, and why there are none in containers."""
    others = [
        victims.over_stdio("odd", victims.RARELY_CRASHING),
        victims.over_stdio("calm", victims.CALM),
        victims.over_http(port),
    ]
    with ExitStack() as stack:
        try:
            in_containers = stack.enter_context(victims.containerised())
        except NoEngine as reason:
            yield others, str(reason)
        else:
            yield [*others, *in_containers], ""


async def soak(ours: server.Server, upstreams: list[Victim], port: int, findings: Findings) -> None:
    serving = asyncio.create_task(victims.keep_serving(port))
    try:
        for upstream in upstreams:
            await asyncio.to_thread(add, ours, upstream.namespace, *upstream.words)
        with psycopg.connect(embedded.database_url(ours.data_dir)) as connection:
            connection.execute(MANY_RESTARTS)
        await Soak(ours, upstreams, findings).run()
        await asyncio.to_thread(remove_ensured, ours, upstreams)
    finally:
        serving.cancel()
        await asyncio.wait([serving])


def remove_ensured(ours: server.Server, upstreams: list[Victim]) -> None:
    """Remove the upstreams whose containers contextd created, and wait for it to delete them."""
    for upstream in upstreams:
        if upstream.is_ensured:
            manage(ours, "gateway", "remove", upstream.namespace)
            until = time.monotonic() + REMOVAL_SECONDS
            while victims.ensured_containers() and time.monotonic() < until:
                time.sleep(0.2)


def by_transport(upstreams: list[Victim]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for upstream in upstreams:
        found.setdefault(upstream.transport, []).append(upstream.namespace)
    return found


def main() -> None:
    os.environ["CONTEXTD_GATEWAY_PRIVATE_HOSTS"] = "127.0.0.1"
    port = server.free_port()
    with upstreams_of_all_transports(port) as (upstreams, left_out):
        findings = Findings(by_transport(upstreams), left_out)
        with server.running() as ours:
            asyncio.run(soak(ours, upstreams, port, findings))
        findings.left = victims.left(upstreams)
    text = findings.text(MINUTES, CLIENTS)
    report.write("soak", "Upstreams and the gateway, killed at random", "make soak", text)
    if problems := [*findings.problems()]:
        sys.exit("\n".join(f"the soak failed: {problem}" for problem in problems))


if __name__ == "__main__":
    main()

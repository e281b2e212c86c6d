"""Connect to upstreams over each transport."""

import asyncio
import logging
from collections.abc import Collection
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio

from gateway import policy
from gateway.lost import Lost
from gateway.models import Transport
from gateway.services import Plan
from gateway.supervision import http, processes, used
from gateway.supervision.processes import Tail

LETTING_GO_SECONDS = 20

logger = logging.getLogger(__name__)


def opened(
    plan: Plan, tail: Tail, ended: anyio.Event
) -> AbstractAsyncContextManager[tuple[Any, Any]]:
    """Open the streams to and from an upstream; set `ended` when it is gone."""
    if plan.transport == Transport.HTTP:
        return http.connected(plan, tail)
    if plan.transport == Transport.DOCKER:
        from gateway.supervision import docker  # slow to import, and rarely needed

        return docker.running(plan, tail, ended)
    return processes.running(plan, tail, ended)


async def make_ready(plan: Plan) -> None:
    """Prepare what the first connection needs. Raises Lost."""
    await policy.check(plan)
    if plan.transport == Transport.DOCKER:
        from gateway.supervision import docker

        used.note(plan.namespace, plan.container)
        try:
            async with asyncio.timeout(plan.startup_seconds):
                await docker.make_ready(plan)
        except TimeoutError:
            raise Lost(
                f"{plan.container} was not ready within {plan.startup_seconds:g} s"
            ) from None


async def let_go(plan: Plan) -> None:
    """Clean up after the last connection."""
    if plan.transport == Transport.DOCKER:
        await let_go_of(plan.namespace, [plan.container])


def left_of_removed(plans: Collection[Plan]) -> set[used.Use]:
    """Return what upstreams used that were removed or moved while no gateway was running."""
    return used.containers() - {(plan.namespace, plan.container) for plan in plans}


async def let_go_of(namespace: str, containers: Collection[str]) -> None:
    from gateway.supervision import docker

    for container in containers:
        try:
            async with asyncio.timeout(LETTING_GO_SECONDS):
                await docker.let_go(namespace, container)
            used.forget(namespace, container)
        except (Lost, OSError) as error:  # retried at the gateway's next start
            logger.warning("leftovers of %s in %s remain: %s", namespace, container, error)

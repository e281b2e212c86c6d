"""Connect to upstreams over each transport."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio

from gateway import policy
from gateway.errors import Lost
from gateway.models import Transport
from gateway.services import Plan
from gateway.supervision import containers_file, http, processes
from gateway.supervision.containers_file import ContainerUse
from gateway.supervision.processes import Tail

CLEANUP_SECONDS = 20

logger = logging.getLogger(__name__)


def connected(
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

        containers_file.add(plan.namespace, plan.container)
        try:
            async with asyncio.timeout(plan.startup_seconds):
                await docker.make_ready(plan)
        except TimeoutError:
            raise Lost(
                f"{plan.container} was not ready within {plan.startup_seconds:g} s"
            ) from None


def uses_of(plans: Iterable[Plan]) -> set[ContainerUse]:
    return {(one.namespace, one.container) for one in plans if one.transport == Transport.DOCKER}


def leftovers(plans: Collection[Plan]) -> set[ContainerUse]:
    """Return what no enabled upstream uses, as after a kill of the gateway."""
    return containers_file.read() - uses_of(plan for plan in plans if plan.is_enabled)


async def stop_processes(uses: Collection[ContainerUse]) -> None:
    """End what runs in the containers after the last connection; keep their data."""
    for use in uses:
        from gateway.supervision import docker

        await attempt(docker.stop_processes, use)


async def remove(uses: Collection[ContainerUse]) -> None:
    """Clean up the containers that belong to no upstream any more."""
    for use in uses:
        from gateway.supervision import docker

        if await attempt(docker.remove, use):
            containers_file.remove(*use)


async def attempt(act: Callable[[str, str], Awaitable[None]], use: ContainerUse) -> bool:
    """Act on the container, and return whether that succeeded.

    What fails is tried again at the gateway's next start.
    """
    namespace, container = use
    try:
        async with asyncio.timeout(CLEANUP_SECONDS):
            await act(namespace, container)
    except (Lost, OSError) as error:
        logger.warning("leftovers of %s in %s remain: %s", namespace, container, error)
        return False
    return True

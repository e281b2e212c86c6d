"""How each kind of upstream is reached."""

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
    """The streams to and from it; `ended` is set when it has gone."""
    if plan.transport == Transport.HTTP:
        return http.connected(plan, tail)
    if plan.transport == Transport.DOCKER:
        from gateway.supervision import docker  # which few need, and takes its time

        return docker.running(plan, tail, ended)
    return processes.running(plan, tail, ended)


async def make_ready(plan: Plan) -> None:
    """See to what has to be there before the first connection. Raises Lost."""
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
    """What has to go after the last one."""
    if plan.transport == Transport.DOCKER:
        await let_go_of(plan.namespace, plan.container)


async def let_go_of_removed(plans: Collection[Plan]) -> None:
    """Of upstreams that were removed, or moved elsewhere, while no gateway was running."""
    known = {(plan.namespace, plan.container) for plan in plans}
    for namespace, container in used.containers() - known:
        await let_go_of(namespace, container)


async def let_go_of(namespace: str, container: str) -> None:
    from gateway.supervision import docker

    try:
        async with asyncio.timeout(LETTING_GO_SECONDS):
            await docker.let_go(namespace, container)
    except (Lost, TimeoutError) as lost:  # tried again when the gateway starts
        logger.warning("what %s left in %s stays there: %s", namespace, container, lost)
    else:
        used.forget(namespace, container)

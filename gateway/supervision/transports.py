"""How each kind of upstream is reached."""

from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio

from gateway.models import Transport
from gateway.services import Plan
from gateway.supervision import http, processes
from gateway.supervision.processes import Tail


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
    """What has to be there before the first connection. Raises Lost."""
    if plan.transport == Transport.DOCKER:
        from gateway.supervision import docker

        await docker.make_ready(plan)


async def let_go(plan: Plan) -> None:
    """What has to go after the last one."""
    if plan.transport == Transport.DOCKER:
        from gateway.supervision import docker

        await docker.let_go(plan)

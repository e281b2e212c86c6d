"""Keep the running upstreams in line with the database, and relay calls."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from contextd.errors import ContextdError, Invalid
from contextd.mcp.workers import Workers
from gateway import offering, services
from gateway.lost import Lost, Unsaved
from gateway.models import Kind, State
from gateway.services import Plan
from gateway.supervision import failures, transports
from gateway.supervision.connection import Connection
from gateway.supervision.exchange import Exchange, Exchanges
from gateway.supervision.upstream import SupervisedUpstream

LOOK_SECONDS = 1
TIDY_EVERY = 60
DATABASE_SECONDS = 10

Outcome = TypeVar("Outcome")

logger = logging.getLogger(__name__)


class Supervisor:
    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._upstreams: dict[str, SupervisedUpstream] = {}
        self.exchanges = Exchanges()
        self._unsaved: dict[int, Callable[[], None]] = {}
        """Saves the last state of each upstream whose state is not saved yet."""
        self._saving: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def run(self) -> None:
        """Run until cancelled; then stop every upstream."""
        looks = 0
        await self._let_go_of_removed()
        try:
            while True:
                await self._follow_rows()
                await self._save_states()
                looks += 1
                if looks % TIDY_EVERY == 0:
                    await asyncio.gather(*(one.tidy() for one in self._upstreams.values()))
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            await asyncio.shield(self._end())

    async def _end(self) -> None:
        await self.exchanges.drop_all()
        await self._stop(list(self._upstreams))

    async def _let_go_of_removed(self) -> None:
        try:
            await transports.let_go_of_removed(await self._do(services.plans))
        except (ContextdError, OSError) as error:
            logger.warning("leftovers in containers are not removed: %s", error)

    async def perform(self, namespace: str, exchange: Exchange) -> dict[str, Any]:
        """Return the upstream's answer. Raises Failed."""
        return await (await self._get(namespace)).perform(exchange)

    async def restart(self, namespace: str) -> dict[str, Any]:
        return await self._told(namespace, SupervisedUpstream.restart)

    async def refresh(self, namespace: str) -> dict[str, Any]:
        return await self._told(namespace, SupervisedUpstream.refresh)

    async def _told(self, namespace: str, act: Callable[..., Any]) -> dict[str, Any]:
        upstream = await self._get(namespace)
        try:
            await act(upstream)
        except Lost as lost:
            raise failures.unavailable(f"{namespace}: {lost}") from None
        return {"state": str(upstream.state)}

    async def _get(self, namespace: str) -> SupervisedUpstream:
        if namespace not in self._upstreams:
            await self._follow_rows()  # it may have been added just now
        if namespace not in self._upstreams:
            raise failures.unavailable(f"there is no enabled upstream {namespace!r}")
        return self._upstreams[namespace]

    async def _follow_rows(self) -> None:
        try:
            plans = {plan.namespace: plan for plan in await self._do(services.plans)}
        except ContextdError as error:
            logger.warning("the upstreams keep running unchanged: %s", error.message)
            return
        running = self._upstreams.items()
        over = [name for name, one in running if not is_same(one.plan, plans.get(name))]
        await self._stop(over)
        for name, plan in plans.items():
            if name not in self._upstreams:
                upstream = SupervisedUpstream(plan, self, Connection)
                self._upstreams[name] = upstream
                upstream.start()

    async def _stop(self, namespaces: list[str]) -> None:
        stopped = [self._upstreams.pop(name) for name in namespaces if name in self._upstreams]
        await asyncio.gather(*(upstream.stop() for upstream in stopped))

    async def note(
        self, plan: Plan, state: State, reason: str = "", retry_at: datetime | None = None
    ) -> None:
        async with self._saving[plan.pk]:
            self._unsaved[plan.pk] = partial(services.note, plan.pk, state, reason, retry_at)
            await self._save_state(plan.pk)

    async def _save_states(self) -> None:
        """Save states that could not be saved before."""
        for pk in list(self._unsaved):
            async with self._saving[pk]:
                if pk in self._unsaved:
                    await self._save_state(pk)

    async def _save_state(self, pk: int) -> None:
        try:
            await self._do(self._unsaved[pk])
        except ContextdError as error:
            logger.warning("the state of an upstream could not be saved: %s", error.message)
        else:
            del self._unsaved[pk]

    async def take_in(self, plan: Plan, kind: Kind, listed: list[Any]) -> None:
        try:
            problems = await self._do(partial(offering.take_in, plan.pk, kind, listed))
        except Invalid as error:
            raise Lost(error.message) from None
        except ContextdError as error:
            raise Unsaved(f"its {kind}s could not be saved: {error.message}") from None
        for problem in problems:
            logger.warning("%s: %s", plan.namespace, problem)

    async def _do(self, work: Callable[[], Outcome]) -> Outcome:
        return await self._workers.run_safely("the gateway", work, seconds=DATABASE_SECONDS)


def is_same(plan: Plan, now: Plan | None) -> bool:
    return now is not None and (plan.pk, plan.revision) == (now.pk, now.revision)

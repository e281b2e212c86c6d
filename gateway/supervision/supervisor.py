"""Keep the running upstreams in line with the database, and relay calls."""

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from contextd.errors import ContextdError, Invalid
from contextd.workers import Workers
from gateway import offering, services
from gateway.errors import Lost, Replaced, Unsaved
from gateway.models import Kind, State
from gateway.services import Plan
from gateway.supervision import failures, transports
from gateway.supervision.connection import Connection
from gateway.supervision.containers_file import ContainerUse
from gateway.supervision.exchange import Exchange, Exchanges
from gateway.supervision.upstream import SupervisedUpstream

LOOK_SECONDS = 1
TIDY_EVERY = 60
DATABASE_SECONDS = 10
ENDING_SECONDS = 15
"""Seconds a call waits for the end of the upstream's predecessor."""

Outcome = TypeVar("Outcome")

logger = logging.getLogger(__name__)


class Supervisor:
    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._upstreams: dict[str, SupervisedUpstream] = {}
        self._endings: dict[str, asyncio.Task[None]] = {}
        """What has to end, by namespace, before an upstream can start there."""
        self._following = asyncio.Lock()
        self._is_look_due = asyncio.Event()
        self._is_stopping = False
        self.exchanges = Exchanges()
        self._unsaved: dict[int, Callable[[], None]] = {}
        """Saves the last state of each upstream whose state is not saved yet."""
        self._saving: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def run(self) -> None:
        """Run until cancelled; then stop every upstream."""
        looks = 0
        try:
            await self._clean_up()
            while True:
                self._is_look_due.clear()
                await self._follow_rows()
                await self._save_unsaved()
                looks += 1
                if looks % TIDY_EVERY == 0:
                    for upstream in self._upstreams.values():
                        upstream.tidy()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self._is_look_due.wait()
        finally:
            await asyncio.shield(self._stop())

    async def _stop(self) -> None:
        self._is_stopping = True
        await self.exchanges.drop_all()
        for namespace, upstream in self._upstreams.items():
            self._end_soon(namespace, upstream.stop())
        self._upstreams.clear()
        if self._endings:
            await asyncio.wait(self._endings.values())

    async def _clean_up(self) -> None:
        """End what upstreams left in containers that were since removed, moved or disabled."""
        try:
            plans = await self.do(services.plans)
            leftovers = transports.leftovers(plans)
        except (ContextdError, OSError) as error:
            logger.warning("leftovers in containers are not removed: %s", error)
            return
        for namespace in {namespace for namespace, _ in leftovers}:
            uses = {use for use in leftovers if use[0] == namespace}
            self._end_soon(namespace, clean_up_containers(uses, plans))

    async def perform(self, exchange: Exchange) -> dict[str, Any]:
        """Return the upstream's answer. Raises Failed."""
        return await self._act(
            exchange.asked.namespace, lambda upstream: upstream.perform(exchange)
        )

    async def restart(self, namespace: str) -> dict[str, Any]:
        return await self._control(namespace, SupervisedUpstream.restart)

    async def refresh(self, namespace: str) -> dict[str, Any]:
        return await self._control(namespace, SupervisedUpstream.refresh)

    async def _control(
        self, namespace: str, act: Callable[[SupervisedUpstream], Awaitable[None]]
    ) -> dict[str, Any]:
        try:
            await self._act(namespace, act)
        except Lost as lost:
            raise failures.unavailable(f"{namespace}: {lost}") from None
        return {"state": str(State.READY)}

    async def _act(
        self, namespace: str, act: Callable[[SupervisedUpstream], Awaitable[Outcome]]
    ) -> Outcome:
        """Act on the upstream; if it is replaced before anything happened, on its successor."""
        while True:
            upstream = await self._get(namespace)
            with contextlib.suppress(Replaced):
                return await act(upstream)

    async def _get(self, namespace: str) -> SupervisedUpstream:
        if ending := self._endings.get(namespace):
            await asyncio.wait([ending], timeout=ENDING_SECONDS)
        if namespace in self._endings:
            raise failures.unavailable(f"{namespace} is still ending, so nothing was sent")
        if namespace not in self._upstreams:
            await self._follow_rows()  # it may have been added just now
        if namespace not in self._upstreams:
            raise failures.unavailable(f"there is no enabled upstream {namespace!r}")
        return self._upstreams[namespace]

    async def _follow_rows(self) -> None:
        """Start, stop and replace upstreams so that they are as in the database."""
        async with self._following:
            try:
                plans = await self.do(services.plans)
            except ContextdError as error:
                logger.warning("the upstreams keep running unchanged: %s", error.message)
                return
            if not self._is_stopping:
                self._follow({plan.namespace: plan for plan in plans})

    def _follow(self, plans: Mapping[str, Plan]) -> None:
        for name, upstream in list(self._upstreams.items()):
            if not is_same(upstream.plan, plans.get(name)):
                del self._upstreams[name]
                self._end_soon(name, stop_replaced(upstream, plans.get(name)))
        for name, plan in plans.items():
            if plan.is_enabled and name not in self._upstreams and name not in self._endings:
                self._upstreams[name] = SupervisedUpstream(plan, self, Connection)
                self._upstreams[name].start()

    def _end_soon(self, namespace: str, end: Coroutine[Any, Any, None]) -> None:
        """Start no upstream of the namespace before this has ended; the others do not wait."""

        def finish(_: object) -> None:
            del self._endings[namespace]
            self._is_look_due.set()

        self._endings[namespace] = asyncio.create_task(end)
        self._endings[namespace].add_done_callback(finish)

    async def save_state(
        self, plan: Plan, state: State, reason: str = "", retry_at: datetime | None = None
    ) -> None:
        async with self._saving[plan.pk]:
            self._unsaved[plan.pk] = partial(services.save_state, plan.pk, state, reason, retry_at)
            await self._try_to_save(plan.pk)

    async def _save_unsaved(self) -> None:
        """Save states that could not be saved before."""
        for pk in list(self._unsaved):
            async with self._saving[pk]:
                if pk in self._unsaved:
                    await self._try_to_save(pk)

    async def _try_to_save(self, pk: int) -> None:
        try:
            await self.do(self._unsaved[pk])
        except ContextdError as error:
            logger.warning("the state of an upstream could not be saved: %s", error.message)
        else:
            del self._unsaved[pk]

    async def save_listing(self, plan: Plan, kind: Kind, listed: list[Any]) -> None:
        try:
            problems = await self.do(partial(offering.save_listing, plan.pk, kind, listed))
        except Invalid as error:
            raise Lost(error.message) from None
        except ContextdError as error:
            raise Unsaved(f"its {kind}s could not be saved: {error.message}") from None
        for problem in problems:
            logger.warning("%s: %s", plan.namespace, problem)

    async def do(self, work: Callable[[], Outcome]) -> Outcome:
        """Do work with the database. Raises ContextdError."""
        return await self._workers.run_safely("the gateway", work, seconds=DATABASE_SECONDS)


def is_same(plan: Plan, now: Plan | None) -> bool:
    if now is None or not now.is_enabled:
        return False
    return (plan.pk, plan.revision) == (now.pk, now.revision)


async def stop_replaced(upstream: SupervisedUpstream, now: Plan | None) -> None:
    """Stop the upstream, and remove its container unless its row still has it."""
    await upstream.stop()
    kept = [now] if now and now.pk == upstream.plan.pk else []
    await transports.remove(transports.uses_of([upstream.plan]) - transports.uses_of(kept))


async def clean_up_containers(uses: set[ContainerUse], plans: Collection[Plan]) -> None:
    """End what runs in the containers; remove those that belong to none of the plans."""
    kept = transports.uses_of(plans)
    await transports.stop_processes(uses & kept)
    await transports.remove(uses - kept)

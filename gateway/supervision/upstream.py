"""Keep an upstream running: its states, and the connections that calls use."""

import asyncio
import contextlib
import logging
import math
import random
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NoReturn, Protocol

from django.utils import timezone

from contextd import logs
from gateway.errors import Hopeless, Lost, Replaced, Unsaved
from gateway.models import Isolation, Kind, State
from gateway.rpc import Failed
from gateway.services import Plan
from gateway.supervision import concealing, failures, results, transports
from gateway.supervision.connection import Connection
from gateway.supervision.exchange import Exchange

MAX_PAUSE_SECONDS = 60
MAX_DOUBLINGS = 20
"""More than any pause needs; a power of thousands would be no number of seconds."""
STEADY_SECONDS = 30
IDLE_SECONDS = 600
DEBOUNCE_SECONDS = 0.2
SAVE_AGAIN_SECONDS = 10
MAX_CONNECTIONS = 32
SHARED = "*"
"""The principal that stands for every caller."""

logger = logging.getLogger(__name__)


class StateStore(Protocol):
    """Records states and lists of upstreams."""

    async def save_state(
        self, plan: Plan, state: State, reason: str = "", retry_at: datetime | None = None
    ) -> None: ...

    async def save_listing(self, plan: Plan, kind: Kind, listed: list[Any]) -> None:
        """Save a list. Raises Lost if it is not acceptable, and Unsaved if saving fails."""


class SupervisedUpstream:
    def __init__(self, plan: Plan, store: StateStore, create: Callable[..., Connection]) -> None:
        self.plan = plan
        self.state, self.reason = State.STOPPED, ""
        self._retry_at: datetime | None = None
        self._store, self._create = store, create
        self._main: Connection | None = None
        self._others: dict[tuple[Any, ...], Connection] = {}
        self._of_single_calls: set[Connection] = set()
        """Includes those that are closing, since their processes still run."""
        self._output_schemas: Mapping[str, Any] = {}
        self._list_problems: dict[Kind, str] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._is_settled = asyncio.Event()
        """Set when the outcome of the newest start is known; each start has its own event."""
        self._is_restart_wanted = asyncio.Event()
        self._is_stopping = False
        self._ready_since = math.inf
        self._is_changed = asyncio.Event()
        self._changed: set[Kind] = set()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._keep_running())

    async def stop(self) -> None:
        """Stop the upstream; return when nothing of it runs. Those who wait for it get Replaced."""
        self._is_stopping = True
        self._is_settled.set()
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])
        await self._close_connections()
        await transports.stop_processes(transports.uses_of([self.plan]))
        await self._enter(State.STOPPED)

    async def restart(self) -> None:
        """Restart it, even after it was given up; return when it is ready. Raises Lost."""
        if not self._is_starting and not self._is_restart_wanted.is_set():
            self._is_settled = asyncio.Event()
            self._is_restart_wanted.set()
            await self._close_connections()
        await self._wait_until_ready()

    async def refresh(self) -> None:
        """List its tools again, or wait for a start, which lists them. Raises Lost."""
        if self._is_starting:
            await self._wait_until_ready()
        elif self._main is None:
            await self.restart()
        else:
            await self._discover(self._main)

    @property
    def _is_starting(self) -> bool:
        return self.state in (State.STARTING, State.STOPPED)

    async def _wait_until_ready(self) -> None:
        """Wait for the outcome of the newest start. Raises Lost."""
        await self._is_settled.wait()
        if self._is_stopping:
            raise Replaced
        if self.state != State.READY:
            raise Lost(self.reason)

    async def perform(self, exchange: Exchange) -> dict[str, Any]:
        """Return the checked result. Raises Failed. No error contains a value of a setting."""
        settings = with_headers(self.plan, exchange.asked.headers).settings
        conceal = concealing.concealer(settings)
        try:
            result = await self._perform_checked(exchange)
        except Failed as failed:
            cause = concealing.concealed(failed.cause, conceal)
            raise Failed(conceal(failed.message), failed.category, cause) from None
        return concealing.concealed(result, conceal) if result.get("isError") else result

    async def _perform_checked(self, exchange: Exchange) -> dict[str, Any]:
        asked = exchange.asked
        result = await self._perform(exchange)
        is_call = asked.method == results.CALL
        schema = self._output_schemas.get(str(asked.params.get("name"))) if is_call else None
        try:
            problem = await results.problem_of(asked.method, result, schema)
        except results.Unchecked as reason:
            seldom = logging.getLogger(f"{__name__}.{self.plan.namespace}")
            logs.warn_seldom(seldom, f"{asked.name}: a result is passed on unchecked: {reason}")
            return result
        if problem:
            raise failures.broken(asked.name, problem, result)
        return result

    async def _perform(self, exchange: Exchange) -> dict[str, Any]:
        main = await self._ready_connection()
        plan = with_headers(self.plan, exchange.asked.headers)
        if plan.isolation == Isolation.PER_CALL:
            return await self._perform_alone(plan, exchange)
        principal = exchange.asked.principal if plan.isolation == Isolation.PER_USER else SHARED
        connection = await self._connection_of(principal, plan, main)
        return await connection.perform(exchange)

    def tidy(self) -> None:
        """Start to close connections that have been idle for a while."""
        oldest = time.monotonic() - IDLE_SECONDS
        for name, one in list(self._others.items()):
            if not one.is_busy and one.last_used < oldest:
                self._close_soon(self._others.pop(name))

    async def _ready_connection(self) -> Connection:
        """Return the connection of the upstream, after its start. Raises Failed or Replaced."""
        if self._is_starting:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.plan.startup_seconds):
                    await self._is_settled.wait()
        if self._is_stopping:
            raise Replaced
        if self._main is None or not self._main.is_open:
            raise failures.unavailable(self._status_text())
        return self._main

    def _status_text(self) -> str:
        """Say why it takes no calls; what the process wrote may concern another caller."""
        reason = self.reason.partition("\n")[0]
        state = "ending" if self.state == State.READY else self.state
        told = f"{self.plan.namespace} is {state}, so nothing was sent"
        told += f": {reason}" if reason else ""
        return told + (f"\nnext try at {self._retry_at:%H:%M:%S} UTC" if self._retry_at else "")

    async def _perform_alone(self, plan: Plan, exchange: Exchange) -> dict[str, Any]:
        if len(self._of_single_calls) >= MAX_CONNECTIONS:
            raise self._busy("calls")
        connection = self._create(plan)
        self._of_single_calls.add(connection)
        try:
            await self._ensure_open(connection)
            return await connection.perform(exchange)
        finally:  # the answer does not wait for the end of the process
            closing = self._close_soon(connection)
            closing.add_done_callback(lambda _: self._of_single_calls.discard(connection))

    async def _connection_of(self, principal: str, plan: Plan, main: Connection) -> Connection:
        """Return the caller's connection; the first caller gets the existing one for itself.

        Other headers require a separate connection, since each of its requests carries them.
        """
        if plan is self.plan:
            main.owner = main.owner or principal
            if main.owner == principal:
                return main
        key = principal, *sorted(plan.settings.items())
        connection = self._others.get(key)
        if connection is None or connection.has_ended:
            connection = self._others[key] = self._create_another(plan)
        await self._ensure_open(connection)
        return connection

    def _create_another(self, plan: Plan) -> Connection:
        for name in [name for name, one in self._others.items() if one.has_ended]:
            self._close_soon(self._others.pop(name))
        if len(self._others) >= MAX_CONNECTIONS:
            self._close_least_used()
        return self._create(plan)

    def _close_least_used(self) -> None:
        idle = {name: one for name, one in self._others.items() if not one.is_busy}
        if not idle:
            raise self._busy("callers")
        self._close_soon(self._others.pop(min(idle, key=lambda name: idle[name].last_used)))

    def _busy(self, served: str) -> Failed:
        told = f"{self.plan.namespace} already serves {MAX_CONNECTIONS} {served}; try again later"
        return failures.busy(told)

    def _close_soon(self, connection: Connection) -> asyncio.Task[None]:
        closing = asyncio.create_task(connection.close())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        return closing

    async def _close_connections(self) -> None:
        """Close all connections; return when they, and those that are closing, are gone."""
        callers = [*self._others.values(), *self._of_single_calls]
        self._others.clear()
        for connection in [self._main, *callers] if self._main else callers:
            self._close_soon(connection)
        if self._closing:
            await asyncio.wait(self._closing)

    async def _ensure_open(self, connection: Connection) -> None:
        try:
            await connection.open()
        except Lost as lost:
            raise failures.unavailable(f"{self.plan.namespace} does not start: {lost}") from None

    async def _keep_running(self) -> None:
        failed = 0
        while True:
            lost = await self._run_once()
            if time.monotonic() - self._ready_since > STEADY_SECONDS:
                failed = 0
            if not self._is_restart_wanted.is_set():
                failed += 1
                await self._pause(failed, lost)
            if self._is_restart_wanted.is_set():
                failed = 0

    async def _run_once(self) -> Lost:
        """Run the upstream once; return why it ended."""
        self._is_restart_wanted.clear()
        if self._is_settled.is_set():
            self._is_settled = asyncio.Event()
        self._ready_since = math.inf
        self._list_problems.clear()
        await self._enter(State.STARTING)
        connection = self._create(self.plan, self._note_change)
        try:
            await transports.make_ready(self.plan)
            await connection.open()
            await self._discover_at_start(connection)
            self._main = connection
            self._ready_since = time.monotonic()
            await self._enter(State.READY, self._list_problem())
            await self._watch_changes(connection)
        except Lost as lost:
            return lost
        except Exception as error:  # supervision must go on
            logger.exception("an error in the supervision of %s", self.plan.namespace)
            return Lost(f"internal error: {failures.message_of(error)}")
        finally:
            self._main = None
            await asyncio.shield(self._close_soon(connection))

    async def _watch_changes(self, connection: Connection) -> NoReturn:
        """Read lists again as they change. Raises Lost when the connection ends."""
        async with asyncio.TaskGroup() as tasks:
            following = tasks.create_task(self._follow_changes(connection))
            lost = await connection.wait_for_end()
            following.cancel()
        raise lost

    def _note_change(self, kinds: Collection[Kind]) -> None:
        self._changed.update(kinds)
        self._is_changed.set()

    async def _follow_changes(self, connection: Connection) -> None:
        """Read lists whose change is announced; poll all, since announcements may be lost."""
        clock = asyncio.get_running_loop().time
        poll_at = clock() + self.plan.poll_seconds
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(poll_at):
                    await self._is_changed.wait()
                    await asyncio.sleep(DEBOUNCE_SECONDS)
            changed, self._changed = self._changed, set()
            self._is_changed.clear()
            is_due = clock() >= poll_at
            await self._discover_or_report(connection, connection.offers if is_due else changed)
            if is_due:
                poll_at = clock() + self.plan.poll_seconds

    async def _discover_at_start(self, connection: Connection) -> None:
        try:
            await self._discover(connection)
        except Unsaved as unsaved:  # a restart would not help, and calls need no list
            self._list_problems[Kind.TOOL] = str(unsaved)
            self._list_again_later(set(Kind))

    def _list_again_later(self, kinds: Collection[Kind]) -> None:
        asyncio.get_running_loop().call_later(SAVE_AGAIN_SECONDS, self._note_change, kinds)

    async def _discover(self, connection: Connection) -> None:
        """Read its lists. Raises Lost if it does not list its tools; the rest is optional."""
        await self._list(connection, Kind.TOOL)
        await self._discover_or_report(connection, set(Kind) - {Kind.TOOL})

    async def _list(self, connection: Connection, kind: Kind) -> None:
        listed = await connection.list_all(kind)
        if kind == Kind.TOOL and listed:
            self._output_schemas = results.output_schemas_of(listed)
        await self._store.save_listing(self.plan, kind, listed)
        if self._list_problems.pop(kind, None):
            await self._enter(self.state, self._list_problem())

    def _list_problem(self) -> str:
        return "\n".join(self._list_problems.values())

    async def _discover_or_report(self, connection: Connection, kinds: Collection[Kind]) -> None:
        """Read the lists; on a failure, keep offering what was listed before."""
        for kind in sorted(kinds):
            try:
                await self._list(connection, kind)
            except Lost as lost:
                self._list_problems[kind] = f"its new list of {kind}s is not accepted: {lost}"
                if isinstance(lost, Unsaved):
                    self._list_again_later([kind])
                if self.reason != self._list_problem():
                    await self._enter(self.state, self._list_problem())

    async def _pause(self, failed: int, lost: Lost) -> None:
        reason = str(lost)
        if isinstance(lost, Hopeless):
            await self._give_up(reason)
            return
        if failed > self.plan.restart_attempts:
            await self._give_up(f"{reason}\ngiven up after {failed} attempts")
            return
        seconds = pause_after(failed, self.plan.backoff_seconds)
        self._retry_at = timezone.now() + timedelta(seconds=seconds)
        try:
            await self._enter(State.BACKOFF, reason)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._is_restart_wanted.wait()
        finally:
            self._retry_at = None

    async def _give_up(self, reason: str) -> None:
        """Wait until a person wants another attempt."""
        await self._enter(State.FAILED, reason)
        await self._is_restart_wanted.wait()

    async def _enter(self, state: State, reason: str = "") -> None:
        self.state, self.reason = state, reason
        is_outcome = not (self._is_starting or self._is_restart_wanted.is_set())
        is_settled = self._is_settled  # a restart during the note below replaces it
        await self._store.save_state(self.plan, state, reason, self._retry_at)
        if is_outcome:
            is_settled.set()


def with_headers(plan: Plan, headers: Mapping[str, str]) -> Plan:
    return replace(plan, settings={**plan.settings, **headers}) if headers else plan


def pause_after(failed: int, first: float) -> float:
    """Return the next pause: doubled up to a minute, with jitter against simultaneous starts."""
    doubled = first * 2 ** min(failed - 1, MAX_DOUBLINGS)
    pause: float = min(doubled, max(first, MAX_PAUSE_SECONDS))
    return pause * random.uniform(0.8, 1.2)  # noqa: S311  (not a secret)

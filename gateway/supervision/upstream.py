"""An upstream as it is kept running: its states, and the connections that calls take."""

import asyncio
import contextlib
import random
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Protocol

from django.utils import timezone
from mcp.shared.dispatcher import ProgressFnT

from gateway import names
from gateway.models import Isolation, State
from gateway.services import Plan
from gateway.supervision import failures, results, transports
from gateway.supervision.connection import Connection
from gateway.supervision.failures import Lost

LONGEST_PAUSE_SECONDS = 60
STEADY_SECONDS = 30
IDLE_SECONDS = 600
DEBOUNCE_SECONDS = 0.2
MOST_CONNECTIONS = 32


class Notebook(Protocol):
    """Where it is kept what happens."""

    async def note(
        self, plan: Plan, state: State, reason: str = "", retry_at: datetime | None = None
    ) -> None: ...

    async def take_in(self, plan: Plan, tools: list[Any]) -> None:
        """Raises Lost for a list that cannot be."""


class SupervisedUpstream:
    def __init__(self, plan: Plan, notebook: Notebook, create: Callable[..., Connection]) -> None:
        self.plan = plan
        self.state, self.reason = State.STOPPED, ""
        self._retry_at: datetime | None = None
        self._notebook, self._create = notebook, create
        self._main: Connection | None = None
        self._others: dict[str, Connection] = {}
        self._promised: Mapping[str, Any] = {}
        self._is_settled = asyncio.Event()
        self._is_wanted_anew = asyncio.Event()
        self._is_changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._keep_running())

    async def stop(self) -> None:
        """Returns when nothing of it runs any more."""
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])
        await self._close_others(lambda connection: True)
        await transports.let_go(self.plan)
        await self._enter(State.STOPPED)

    async def restart(self) -> None:
        """Start it anew, also one that was given up; returns when it is ready. Raises Lost."""
        self._is_settled.clear()
        self._is_wanted_anew.set()
        await self._close_others(lambda connection: True)
        if self._main:
            await self._main.close()
        await self._is_settled.wait()
        if self.state != State.READY:
            raise Lost(self.reason)

    async def refresh(self) -> None:
        """List its tools anew. Raises Lost."""
        if self._main is None or self.state != State.READY:
            raise Lost(self._whereabouts())
        await self._discover(self._main)

    async def call(
        self, tool: str, arguments: Mapping[str, Any], principal: str, report: ProgressFnT
    ) -> dict[str, Any]:
        """Its result, if that is what the tool promises. Raises MCPError in our words."""
        result = await self._call(tool, arguments, principal, report)
        if problem := results.problem_of(result, self._promised.get(tool)):
            raise failures.broken(names.canonical(self.plan.namespace, tool), problem, result)
        return result

    async def _call(
        self, tool: str, arguments: Mapping[str, Any], principal: str, report: ProgressFnT
    ) -> dict[str, Any]:
        main = await self._ready_one()
        if self.plan.isolation == Isolation.PER_CALL:
            return await self._call_alone(tool, arguments, report)
        connection = main
        if self.plan.isolation == Isolation.PER_USER:
            connection = await self._connection_of(principal, main)
        return await connection.call(tool, arguments, report)

    async def tidy(self) -> None:
        """Close what nobody has used for a while."""
        oldest = time.monotonic() - IDLE_SECONDS
        await self._close_others(lambda one: not one.calls and one.last_used < oldest)

    async def _ready_one(self) -> Connection:
        if self.state in (State.STARTING, State.STOPPED):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.plan.startup_seconds):
                    await self._is_settled.wait()
        if self._main is None or not self._main.is_open:
            raise failures.unavailable(self._whereabouts())
        return self._main

    def _whereabouts(self) -> str:
        told = f"{self.plan.namespace} is {self.state}"
        told += f": {self.reason}" if self.reason else ""
        return told + (f"\nnext try at {self._retry_at:%H:%M:%S} UTC" if self._retry_at else "")

    async def _call_alone(
        self, tool: str, arguments: Mapping[str, Any], report: ProgressFnT
    ) -> dict[str, Any]:
        connection = self._create(self.plan)
        try:
            await self._opened(connection)
            return await connection.call(tool, arguments, report)
        finally:
            await asyncio.shield(connection.close())

    async def _connection_of(self, principal: str, main: Connection) -> Connection:
        """The first who calls takes the one that is there; what it holds is theirs alone."""
        main.owner = main.owner or principal
        if main.owner == principal:
            return main
        connection = self._others.get(principal)
        if connection is None or connection.has_ended:
            connection = self._others[principal] = self._room_for_another()
        await self._opened(connection)
        return connection

    def _room_for_another(self) -> Connection:
        gone = [name for name, one in self._others.items() if one.has_ended]
        for name in gone:
            del self._others[name]
        if len(self._others) >= MOST_CONNECTIONS:
            raise failures.busy(
                f"{self.plan.namespace} serves {MOST_CONNECTIONS} callers at once; try again later"
            )
        return self._create(self.plan)

    async def _opened(self, connection: Connection) -> None:
        try:
            await connection.open()
        except Lost as lost:
            raise failures.unavailable(f"{self.plan.namespace} does not start: {lost}") from None

    async def _close_others(self, is_meant: Callable[[Connection], bool]) -> None:
        meant = {name: one for name, one in self._others.items() if is_meant(one)}
        for name in meant:
            self._others.pop(name, None)
        await asyncio.gather(*(connection.close() for connection in meant.values()))

    async def _keep_running(self) -> None:
        failed = 0
        while True:
            began = time.monotonic()
            reason = await self._run_once()
            if time.monotonic() - began > STEADY_SECONDS:
                failed = 0
            if not self._is_wanted_anew.is_set():
                failed += 1
                await self._pause(failed, reason)
            if self._is_wanted_anew.is_set():
                failed = 0

    async def _run_once(self) -> str:
        """Why it is no more."""
        self._is_wanted_anew.clear()
        await self._enter(State.STARTING)
        connection = self._create(self.plan, self._is_changed.set)
        try:
            await transports.make_ready(self.plan)
            await connection.open()
            await self._discover(connection)
            self._main = connection
            await self._enter(State.READY)
            await self._watch_changes(connection)
        except Lost as lost:
            return str(lost)
        finally:
            self._main = None
            await asyncio.shield(connection.close())
        return ""

    async def _watch_changes(self, connection: Connection) -> None:
        """Raises Lost when the connection is no more."""
        async with asyncio.TaskGroup() as tasks:
            following = tasks.create_task(self._follow_changes(connection))
            lost = await connection.ended()
            following.cancel()
        raise Lost(lost)

    async def _follow_changes(self, connection: Connection) -> None:
        while True:
            await self._is_changed.wait()
            await asyncio.sleep(DEBOUNCE_SECONDS)
            self._is_changed.clear()
            await self._discover_or_tell(connection)

    async def _discover(self, connection: Connection) -> None:
        tools = await connection.list_tools()
        await self._notebook.take_in(self.plan, tools)
        self._promised = results.promised(tools)

    async def _discover_or_tell(self, connection: Connection) -> None:
        """What was listed before is offered still."""
        try:
            await self._discover(connection)
        except Lost as lost:
            await self._enter(self.state, f"its new list of tools is not taken: {lost}")

    async def _pause(self, failed: int, reason: str) -> None:
        if failed > self.plan.restart_attempts:
            await self._enter(State.FAILED, f"{reason}\ngiven up after {failed} attempts")
            await self._is_wanted_anew.wait()
            return
        seconds = pause_after(failed, self.plan.backoff_seconds)
        self._retry_at = timezone.now() + timedelta(seconds=seconds)
        await self._enter(State.BACKOFF, reason)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._is_wanted_anew.wait(), seconds)
        self._retry_at = None

    async def _enter(self, state: State, reason: str = "") -> None:
        self.state, self.reason = state, reason
        if state in (State.STARTING, State.STOPPED):
            self._is_settled.clear()
        await self._notebook.note(self.plan, state, reason, self._retry_at)
        if state not in (State.STARTING, State.STOPPED):
            self._is_settled.set()


def pause_after(failed: int, first: float) -> float:
    """It doubles, up to a minute; with some chance in it, so that many do not start at once."""
    pause: float = min(first * 2 ** (failed - 1), max(first, LONGEST_PAUSE_SECONDS))
    return pause * random.uniform(0.8, 1.2)  # noqa: S311  (nobody has to guess it)

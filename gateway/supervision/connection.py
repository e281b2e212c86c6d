"""One live MCP connection to an upstream."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Any

import anyio
from mcp import ClientSession, MCPError
from mcp.client._probe import negotiate_auto
from mcp.client.subscriptions import listen
from mcp.shared.dispatcher import CallOptions, ProgressFnT
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.types import Implementation, ToolListChangedNotification
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

import contextd
from gateway import names
from gateway.services import Plan
from gateway.supervision import failures, transports
from gateway.supervision.failures import Lost
from gateway.supervision.processes import Tail

MOST_PAGES = 50
MOST_LISTED = 2000
GRACE_SECONDS = 0.5
"""What an upstream says last may come after its end is noticed."""


class Connection:
    """It has one task of its own, `run`; all others call through it."""

    def __init__(self, plan: Plan, tools_changed: Callable[[], None] | None = None) -> None:
        self.plan = plan
        self.owner: str | None = None
        self.calls = 0
        self.last_used = time.monotonic()
        self._tools_changed = tools_changed
        self._tail = Tail()
        self._ended = anyio.Event()
        self._outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None
        self.why = ""

    @property
    def is_open(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def has_ended(self) -> bool:
        return self._task is not None and self._task.done()

    async def open(self) -> None:
        """Returns when it can be called through. Raises Lost."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name=f"upstream {self.plan.namespace}")
        await asyncio.shield(self._outcome)

    async def ended(self) -> str:
        """Returns when it is no more, and why."""
        if self._task:
            await asyncio.wait([self._task])
        return self.why

    async def close(self) -> None:
        """Returns when nothing is left of it."""
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        try:
            await self._be_connected()
        except asyncio.CancelledError:
            self.why = self.why or "it was stopped"
            raise
        except Exception as error:  # whatever it does, it alone is the worse for it
            self.why = first_of(error)
        finally:
            self.why = f"{self.why}\n{self._tail}".strip()
            if not self._outcome.done():
                self._outcome.set_exception(Lost(self.why))
                self._outcome.exception()  # whether or not somebody waits for it

    async def _be_connected(self) -> None:
        plan = self.plan
        if plan.unreadable:
            raise Lost(plan.unreadable)
        ours = Implementation(name="contextd-gateway", version=contextd.__version__)
        async with transports.opened(plan, self._tail, self._ended) as (incoming, outgoing):
            self._dispatcher: JSONRPCDispatcher[Any] = JSONRPCDispatcher(incoming, outgoing)
            async with ClientSession(
                dispatcher=self._dispatcher, client_info=ours, message_handler=self._hear
            ) as self._session:
                await self._shake_hands()
                if not self._outcome.done():
                    self._outcome.set_result(None)
                async with asyncio.TaskGroup() as tasks:
                    listening = tasks.create_task(self._listen())
                    await self._watch()
                    listening.cancel()

    async def _shake_hands(self) -> None:
        seconds = self.plan.startup_seconds
        try:
            async with asyncio.timeout(seconds):
                await negotiate_auto(self._session)
        except TimeoutError:
            raise Lost(f"it did not answer within {seconds:g} s of its start") from None
        except MCPError as error:
            await self._last_words()
            raise Lost(f"no handshake: {error.error.message}") from None

    async def _last_words(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await self._ended.wait()
                await asyncio.sleep(GRACE_SECONDS / 5)

    async def _watch(self) -> None:
        """Ask it again and again whether it is there. Raises Lost."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.plan.heartbeat_seconds):
                    await self._ended.wait()
                    await asyncio.sleep(GRACE_SECONDS / 5)
                    raise Lost("it has ended")
            await self._ping()

    async def _ping(self) -> None:
        seconds = self.plan.stale_seconds
        version = self._session.protocol_version
        try:
            async with asyncio.timeout(seconds):
                if version in MODERN_PROTOCOL_VERSIONS:
                    await self._session.send_discover(version)
                else:
                    await self._session.send_ping()
        except TimeoutError:
            raise Lost(f"it has not answered for {seconds:g} s") from None
        except MCPError as error:  # any other answer is a sign of life
            if failures.is_closed(error) or failures.is_timeout(error) or is_forgotten(error):
                raise Lost(f"it does not answer: {error.error.message}") from None

    async def _listen(self) -> None:
        """Where changes are told on request only."""
        if self._session.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        with contextlib.suppress(Exception):  # one that cannot tell is asked now and then
            async with listen(self._session, tools_list_changed=True) as events:
                async for _ in events:
                    self._tell_of_change()

    async def _hear(self, message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._tell_of_change()

    def _tell_of_change(self) -> None:
        if self._tools_changed:
            self._tools_changed()

    async def list_tools(self) -> list[Any]:
        """As it lists them, unlooked at. Raises Lost."""
        try:
            async with asyncio.timeout(self.plan.discovery_seconds):
                return await self._list_pages()
        except TimeoutError:
            raise Lost(
                f"it did not list its tools within {self.plan.discovery_seconds:g} s"
            ) from None
        except MCPError as error:
            raise Lost(f"it does not list its tools: {error.error.message}") from None

    async def _list_pages(self) -> list[Any]:
        tools: list[Any] = []
        cursor: Any = None
        seen: set[str] = set()
        while len(seen) < MOST_PAGES and len(tools) < MOST_LISTED:
            page = await self._request("tools/list", {"cursor": cursor} if cursor else {}, {})
            listed = page.get("tools")
            tools += listed if isinstance(listed, list) else []
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or cursor in seen:
                break
            seen.add(cursor)
        return tools

    async def call(
        self, tool: str, arguments: Mapping[str, Any], report: ProgressFnT
    ) -> dict[str, Any]:
        """Its raw result. Raises MCPError in our words."""
        name = names.canonical(self.plan.namespace, tool)
        options: CallOptions = {"timeout": self.plan.request_seconds, "on_progress": report}
        self.calls += 1
        try:
            parameters = {"name": tool, "arguments": dict(arguments)}
            return await self._request("tools/call", parameters, options)
        except MCPError as error:
            raise await self._explained(name, error) from None
        finally:
            self.calls -= 1
            self.last_used = time.monotonic()

    async def _explained(self, name: str, error: MCPError) -> MCPError:
        if failures.is_timeout(error):
            return failures.timed_out(
                f"{name} gave no answer within {self.plan.request_seconds:g} s"
            )
        if not failures.is_closed(error) and not is_forgotten(error):
            return failures.refused(name, error)
        if is_forgotten(error):
            self._ended.set()
        await self._last_words()
        told = f"\n{self._tail}" if str(self._tail) else ""
        return failures.unavailable(
            f"{name}: {self.plan.namespace} went away during the call; "
            f"whether it did something is not known{told}"
        )

    async def _request(
        self, method: str, params: dict[str, Any], options: CallOptions
    ) -> dict[str, Any]:
        request = {"method": method, "params": params}
        # Raw, so that one bad part of an answer does not hide the rest; the session knows how a
        # request of its version is marked, and has no public way to.
        self._session._stamp(request, options)
        return await self._dispatcher.send_raw_request(method, params, options)


def is_forgotten(error: MCPError) -> bool:
    """An HTTP server that was started anew does not know our session any more."""
    return "session" in error.error.message.lower() and error.error.code in (-32600, -32000, -32001)


def first_of(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, Lost):
        return str(error)
    if isinstance(error, MCPError):
        return error.error.message
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__

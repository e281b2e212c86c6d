"""A live MCP connection to an upstream."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Collection
from typing import Any

import anyio
from mcp import ClientSession, MCPError
from mcp.client.session import ClientRequestContext
from mcp.client.subscriptions import listen
from mcp.shared.dispatcher import CallOptions
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.types import (
    INVALID_REQUEST,
    CreateMessageRequestParams,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    Implementation,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, TypeAdapter

import contextd
from contextd.mcp import sdk
from gateway.errors import Lost
from gateway.models import Isolation, Kind, Transport
from gateway.rpc import Failed
from gateway.services import Plan
from gateway.supervision import concealing, failures, http, lists, results, transports
from gateway.supervision.exchange import Exchange, NotAnswered
from gateway.supervision.liveness import MonitoredStream
from gateway.supervision.processes import Tail

ModelReply = CreateMessageResult | CreateMessageResultWithTools
MODEL_REPLY: TypeAdapter[ModelReply] = TypeAdapter(ModelReply)
CLOSING_SECONDS = 15
RESUBSCRIBE_SECONDS = 30
MAX_ROUNDS = 20
GRACE_SECONDS = 0.5
"""Seconds to wait for an upstream's last output after its end is noticed."""

logger = logging.getLogger(__name__)


class Connection:
    """Owns one task that holds the session; other tasks call through it."""

    def __init__(
        self, plan: Plan, changed: Callable[[Collection[Kind]], None] | None = None
    ) -> None:
        self.plan = plan
        self.owner: str | None = None
        self._exchanges: list[Exchange] = []
        self._waiting = 0
        self._has_given_up = False
        """Whether a call ended without an answer, so that its questions may still come."""
        self.last_used = time.monotonic()
        self._changed = changed
        self._concealed = concealing.concealer(plan.settings)
        self._tail = Tail(self._concealed, plan.namespace)
        self._ended = anyio.Event()
        self._outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None
        self.end: Lost | None = None

    @property
    def is_busy(self) -> bool:
        return bool(self._exchanges or self._waiting)

    @property
    def offers(self) -> set[Kind]:
        """Return the declared kinds; always include tools, which some servers do not declare."""
        told = self._session.server_capabilities
        kinds = {Kind.TOOL}
        if told and told.prompts:
            kinds.add(Kind.PROMPT)
        if told and told.resources:
            kinds |= {Kind.RESOURCE, Kind.TEMPLATE}
        return kinds

    @property
    def is_open(self) -> bool:
        return self._task is not None and not self.has_ended

    @property
    def has_ended(self) -> bool:
        """Return whether no more calls can be sent; the process may still be ending."""
        return self._task is not None and (self._task.done() or self._ended.is_set())

    async def open(self) -> None:
        """Wait until calls can be sent. Raises Lost."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name=f"upstream {self.plan.namespace}")
        self._waiting += 1
        try:
            await asyncio.shield(self._outcome)
        finally:
            self._waiting -= 1

    async def wait_for_end(self) -> Lost:
        """Wait for the end of the connection; return the reason."""
        if self._task:
            await asyncio.wait([self._task])
        return self.end or Lost("")

    async def close(self) -> None:
        """End the connection; return when it is gone or its time to end is over."""
        if self._task:
            if not self.has_ended:  # otherwise it is ending; do not cut that short
                self._ended.set()
                self._task.cancel()
            _, left = await asyncio.wait([self._task], timeout=CLOSING_SECONDS)
            if left:
                logger.error("a connection to %s does not end", self.plan.namespace)

    async def _run(self) -> None:
        try:
            await self._be_connected()
            self._note_end(Lost(""))
        except asyncio.CancelledError:
            self._note_end(Lost("it was stopped"))
            raise
        except Exception as error:  # a failure must not affect other upstreams
            self._note_end(error)

    def _note_end(self, error: BaseException) -> None:
        self.end = failures.as_lost(
            error, lambda message: f"{self._concealed(message)}\n{self._tail}".strip()
        )
        if not self._outcome.done():
            self._outcome.set_exception(self.end)
            self._outcome.exception()  # mark as retrieved, even if nobody waits

    async def _be_connected(self) -> None:
        ours = Implementation(name="contextd-gateway", version=contextd.__version__)
        async with contextlib.AsyncExitStack() as stack:
            incoming, outgoing = await self._streams(stack)
            self._incoming = MonitoredStream(incoming)
            self._dispatcher: JSONRPCDispatcher[Any] = JSONRPCDispatcher(self._incoming, outgoing)
            async with ClientSession(
                dispatcher=self._dispatcher,
                client_info=ours,
                message_handler=self._note_message,
                sampling_callback=self._ask_model,
                elicitation_callback=self._ask_person,
            ) as self._session:
                try:
                    await self._serve()
                finally:
                    self._ended.set()

    async def _streams(self, stack: contextlib.AsyncExitStack) -> tuple[Any, Any]:
        """Open the streams until the end of the stack. Raises Lost."""
        seconds = self.plan.startup_seconds
        opening = transports.connected(self.plan, self._tail, self._ended)
        try:
            async with asyncio.timeout(seconds):
                return await stack.enter_async_context(opening)
        except TimeoutError:
            raise Lost(f"it could not be started within {seconds:g} s") from None

    async def _serve(self) -> None:
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
                await sdk.negotiate_auto(self._session)
        except TimeoutError:
            raise Lost(
                f"it did not answer within {seconds:g} s of its start; if it needs longer, for "
                "instance to download itself, raise its Startup timeout ms in the admin, or run "
                "its command once by hand; then restart it"
            ) from None
        except MCPError as error:
            await self._wait_for_last_output()
            raise Lost(f"no handshake: {error.error.message}") from None

    async def _wait_for_last_output(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await self._ended.wait()
                await asyncio.sleep(GRACE_SECONDS / 5)

    async def _watch(self) -> None:
        """Ping the upstream periodically. Raises Lost."""
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
            async with self._incoming.limited_silence(seconds):
                if version in MODERN_PROTOCOL_VERSIONS:
                    await self._session.send_discover(version)
                else:
                    await self._session.send_ping()
        except TimeoutError:
            raise Lost(f"it has not answered for {seconds:g} s") from None
        except MCPError as error:  # any other answer is a sign of life
            if self._is_over(error):
                raise Lost(f"it does not answer: {error.error.message}") from None

    def _is_refused(self, error: MCPError) -> bool:
        """Return whether an HTTP answer is no sign of a working server."""
        is_failing = http.FAILING.match(error.error.message)
        return self._is_forgotten(error) or (self._is_http and is_failing is not None)

    def _is_forgotten(self, error: MCPError) -> bool:
        """Return whether the HTTP server no longer knows our session, as after a restart."""
        return self._is_http and failures.is_of_forgotten_session(error)

    @property
    def _is_http(self) -> bool:
        return self.plan.transport == Transport.HTTP

    async def _listen(self) -> None:
        """Stay subscribed to changes, if the protocol version announces them on request only."""
        if self._session.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        missed: Collection[Kind] = ()
        while self._changed:
            with contextlib.suppress(Exception):  # the lists are polled in any case
                await self._follow_announcements(self._changed, missed)
            missed = self.offers
            await asyncio.sleep(RESUBSCRIBE_SECONDS)

    async def _follow_announcements(
        self, changed: Callable[[Collection[Kind]], None], missed: Collection[Kind]
    ) -> None:
        """Report the missed kinds, then announced changes, until the subscription ends."""
        async with listen(
            self._session,
            tools_list_changed=True,
            prompts_list_changed=True,
            resources_list_changed=True,
        ) as events:
            if missed:
                changed(missed)
            async for event in events:
                await self._note_message(event)

    async def _note_message(self, message: Any) -> None:
        if self._changed and (kinds := lists.CHANGED.get(type(message))):
            self._changed(kinds)

    async def list_all(self, kind: Kind) -> list[Any]:
        """Return the upstream's list, unchecked; empty if it declares none. Raises Lost."""
        if kind not in self.offers:
            return []
        try:
            async with asyncio.timeout(self.plan.discovery_seconds):
                return await lists.read(self._request, kind)
        except TimeoutError:
            raise Lost(f"no list of {kind}s within {self.plan.discovery_seconds:g} s") from None
        except MCPError as error:
            if kind == Kind.TOOL and self._has_no_tools and not self._is_over(error):
                return []
            told = self._concealed(error.error.message)
            raise Lost(f"it does not list its {kind}s: {told}") from None

    @property
    def _has_no_tools(self) -> bool:
        told = self._session.server_capabilities
        return bool(told and (told.prompts or told.resources) and not told.tools)

    def _is_over(self, error: MCPError) -> bool:
        return failures.is_closed(error) or failures.is_timeout(error) or self._is_refused(error)

    async def perform(self, exchange: Exchange) -> dict[str, Any]:
        """Return the raw result. Raises Failed."""
        name, seconds = exchange.asked.name, self.plan.request_seconds
        if self.has_ended:
            raise self._not_sent(name)
        self._exchanges.append(exchange)
        try:
            async with exchange.limited(seconds):
                return await self._perform_in_rounds(exchange)
        except asyncio.CancelledError:
            self._has_given_up = True
            raise
        except TimeoutError:
            self._has_given_up = True
            told = f"{name} gave no answer within {seconds:g} s{self._last_lines}"
            raise failures.timed_out(told) from None
        except NotAnswered as refusal:
            raise failures.unavailable(f"{name} asks something: {refusal}") from None
        except MCPError as error:
            raise await self._explain(name, error) from None
        finally:
            self._exchanges.remove(exchange)
            self.last_used = time.monotonic()

    async def _perform_in_rounds(self, exchange: Exchange) -> dict[str, Any]:
        """Send the request again with the replies until it has a result (protocol 2026-07-28)."""
        answered: dict[str, Any] = {}
        for _ in range(MAX_ROUNDS):
            options: CallOptions = {"on_progress": exchange.report}
            params = {**exchange.asked.params, **answered}
            result = await self._request(exchange.asked.method, params, options)
            if result.get("resultType") != "input_required":
                return result
            questions = result.get("inputRequests") or {}
            if problem := results.problem_of_questions(questions):
                raise failures.broken(exchange.asked.name, problem, result)
            answered = {"inputResponses": await exchange.ask(questions) if questions else {}}
            if "requestState" in result:
                answered["requestState"] = result["requestState"]
        raise NotAnswered(f"it has asked {MAX_ROUNDS} times")

    async def _ask_model(
        self, context: ClientRequestContext, params: CreateMessageRequestParams
    ) -> ModelReply | ErrorData:
        replied = await self._ask("sampling/createMessage", params)
        return replied if isinstance(replied, ErrorData) else MODEL_REPLY.validate_python(replied)

    async def _ask_person(
        self, context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult | ErrorData:
        replied = await self._ask("elicitation/create", params)
        return replied if isinstance(replied, ErrorData) else ElicitResult.model_validate(replied)

    async def _ask(self, method: str, params: BaseModel) -> Any:
        """Ask the caller; up to 2025-11-25 a question does not name the call it belongs to."""
        asking = self._asking()
        if reason := self._reason_not_to_ask(asking):
            return ErrorData(code=INVALID_REQUEST, message=f"nobody can be asked: {reason}")
        raw = params.model_dump(by_alias=True, mode="json", exclude_none=True)
        try:
            return (await asking[0].ask({"": {"method": method, "params": raw}}))[""]
        except NotAnswered as refusal:
            return ErrorData(code=INVALID_REQUEST, message=str(refusal))

    def _asking(self) -> list[Exchange]:
        """Return the calls that a new question may belong to."""
        # One whose question is open asks no other, and may wait in vain for a client that is gone.
        principals = {exchange.asked.principal for exchange in self._exchanges}
        others = [exchange for exchange in self._exchanges if not exchange.is_waiting]
        return others if others and len(principals) == 1 else self._exchanges

    def _reason_not_to_ask(self, asking: Collection[Exchange]) -> str:
        """Return why it is unknown whose question it is, or an empty string."""
        if not asking:
            return "no call is running"
        if len(asking) > 1:
            return "several calls use this connection"
        if self._has_given_up and self.plan.isolation == Isolation.SHARED:
            return "an earlier call of another caller may still be running"
        return ""

    def _not_sent(self, name: str, why: str = "it has just ended") -> Failed:
        told = f"{name}: nothing was sent to {self.plan.namespace}: {why}{self._last_lines}"
        return failures.unavailable(told)

    async def _explain(self, name: str, error: MCPError) -> Failed:
        if failures.is_unsent(error):
            self._ended.set()
            return self._not_sent(name, error.error.message)
        is_forgotten = self._is_forgotten(error)
        if not failures.is_closed(error) and not is_forgotten:
            return failures.refused(name, error)
        if is_forgotten:
            self._ended.set()
        await self._wait_for_last_output()
        return failures.unavailable(
            f"{name}: {self.plan.namespace} went away during the call; "
            f"it is unknown whether it acted on it{self._last_lines}"
        )

    @property
    def _last_lines(self) -> str:
        return f"\n{self._tail}" if str(self._tail) else ""

    async def _request(
        self, method: str, params: dict[str, Any], options: CallOptions | None = None
    ) -> dict[str, Any]:
        request, options = {"method": method, "params": params}, options or {}
        # Not validated, so that one bad part of an answer does not hide the rest.
        sdk.stamp(self._session, request, options)
        return await self._dispatcher.send_raw_request(method, params, options)

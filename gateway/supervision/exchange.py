"""A caller's request to an upstream, which may ask the caller questions before it answers."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from gateway import names, rpc
from gateway.rpc import Report
from gateway.supervision import failures

HELD_SECONDS = 300
"""Seconds the caller may take to answer."""
MAX_WAITING = 16
"""Calls of one principal that may wait for answers; fewer than an upstream has connections."""

Questions = Mapping[str, Mapping[str, Any]]
Replies = Mapping[str, Any]
Work = Callable[["Exchange"], Coroutine[Any, Any, dict[str, Any]]]


class NotAnswered(Exception):
    """The caller does not answer; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request to an upstream, and the caller it is for."""

    method: str
    namespace: str
    own: str
    """The upstream's own name or address of what is asked for."""
    params: Mapping[str, Any]
    principal: str
    headers: Mapping[str, str]

    @property
    def name(self) -> str:
        """The name in error messages."""
        return names.canonical(self.namespace, self.own)


class Exchange:
    """Runs a request in a task that waits while the caller is asked a question."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.id = secrets.token_urlsafe(16)
        self._report: Report | None = None
        self._one_at_a_time = asyncio.Lock()
        self._rounds = 0
        self._questions: Questions = {}
        self._replies: asyncio.Future[Replies] | None = None
        self._turn = asyncio.Event()
        self._limit: asyncio.Timeout | None = None
        self._seconds = 0.0
        self._task: asyncio.Task[dict[str, Any]] | None = None

    def start(self, work: Work, when_done: Callable[[], None]) -> None:
        def end(_: object) -> None:
            if self._replies and self.is_waiting:
                self._replies.set_exception(NotAnswered("the call that asked has ended"))
                self._replies.exception()  # mark as retrieved, even if nobody waits
            self._turn.set()
            when_done()

        self._task = asyncio.create_task(work(self))
        self._task.add_done_callback(end)

    async def follow(self, report: Report) -> dict[str, Any]:
        """Return the result, or one that requires input. Raises Failed."""
        self._report = report
        try:
            if not self.is_done:
                await self._turn.wait()
        except asyncio.CancelledError:
            await self.drop()
            raise
        if self._task and self.is_done:
            return self._result_of(self._task)
        return {
            "resultType": rpc.INPUT_REQUIRED,
            "inputRequests": dict(self._questions),
            "requestState": self.id,
        }

    @property
    def is_done(self) -> bool:
        return self._task is not None and self._task.done()

    @property
    def is_waiting(self) -> bool:
        """Whether its questions are open."""
        return self._replies is not None and not self._replies.done()

    def _result_of(self, task: "asyncio.Task[dict[str, Any]]") -> dict[str, Any]:
        if task.cancelled():
            raise failures.unavailable(f"{self.asked.name}: the call was given up")
        return task.result()

    async def drop(self) -> None:
        """Cancel the work; return when it has ended."""
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def report(self, progress: float, total: float | None, message: str | None) -> None:
        if self._report:
            await self._report(progress, total, message)

    @asynccontextmanager
    async def limited(self, seconds: float) -> AsyncIterator[None]:
        """Limit the time, excluding what the caller takes to answer. Raises TimeoutError."""
        self._seconds = seconds
        async with asyncio.timeout(seconds) as self._limit:
            try:
                yield
            finally:
                self._limit = None

    async def ask(self, questions: Questions) -> Replies:
        """Return the replies by the questions' keys. Raises NotAnswered."""
        async with self._one_at_a_time:
            self._rounds += 1
            prefix = f"{self.id}.{self._rounds}."
            self._questions = {prefix + key: one for key, one in questions.items()}
            replies = await self._put()
        return {key: replies.get(prefix + key) for key in questions}

    async def _put(self) -> Replies:
        loop = asyncio.get_running_loop()
        self._replies = loop.create_future()
        self._reschedule(None)
        self._turn.set()
        try:
            async with asyncio.timeout(HELD_SECONDS):
                return await self._replies
        except TimeoutError:
            raise NotAnswered(f"no answer within {HELD_SECONDS} s") from None
        finally:
            self._turn.clear()
            self._reschedule(loop.time() + self._seconds)

    def _reschedule(self, when: float | None) -> None:
        if self._limit and not self._limit.expired():
            self._limit.reschedule(when)

    def answer(self, replies: Replies, refusal: str = "") -> None:
        """Answer the open questions; they stay open while a reply is missing."""
        waiting = self._replies
        if waiting is None or not (refusal or self._questions.keys() <= replies.keys()):
            return
        self._turn.clear()
        if waiting.done():
            return  # it has been given up
        if refusal:
            waiting.set_exception(NotAnswered(refusal))
        else:
            waiting.set_result(replies)


class Exchanges:
    """Exchanges that wait for an answer; only their caller can find them again."""

    def __init__(self) -> None:
        self._open: dict[str, Exchange] = {}

    def begin(self, asked: Asked, work: Work) -> Exchange:
        exchange, loop = Exchange(asked), asyncio.get_running_loop()

        def end() -> None:
            if exchange.id in self._open:  # the caller may fetch the result later, or never
                forget_later(loop, self._open, exchange.id)

        exchange.start(work, end)
        return exchange

    async def follow(self, exchange: Exchange, report: Report) -> dict[str, Any]:
        outcome = await exchange.follow(report)
        if exchange.is_done:
            self._open.pop(exchange.id, None)
        else:
            await self._keep(exchange)
        return outcome

    async def _keep(self, exchange: Exchange) -> None:
        """Keep it open; give up the oldest of the same principal that wait, if they are many."""
        waiting = [
            one
            for one in self._open.values()
            if one.asked.principal == exchange.asked.principal and one.is_waiting
        ]
        self._open[exchange.id] = exchange
        if exchange not in waiting and len(waiting) >= MAX_WAITING:
            await waiting[0].drop()

    async def drop_all(self) -> None:
        await asyncio.gather(*(exchange.drop() for exchange in self._open.values()))

    def find(self, state: str, principal: str) -> Exchange | None:
        """Return the caller's exchange with this request state."""
        exchange = self._open.get(state)
        return exchange if exchange and exchange.asked.principal == principal else None


def forget_later(
    loop: asyncio.AbstractEventLoop, exchanges: dict[str, Exchange], exchange_id: str
) -> None:
    loop.call_later(HELD_SECONDS, exchanges.pop, exchange_id, None)

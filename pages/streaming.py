"""Server-sent events: what is new is looked up when a process tells that there is something.

A stream that waits holds a task of the event loop, and neither a thread nor a connection to the
database.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from asgiref.sync import SyncToAsync

from contextd import changes
from contextd.bus import AccessChanged, CallsRecorded
from contextd.errors import Busy, ContextdError, TimedOut
from contextd.mcp.workers import Workers
from contextd.signals import serving_ends

BEATS = 25.0
"""Seconds; so often it is looked without being told, which also keeps proxies from giving up."""
GATHERED = 0.5
"""Seconds; what comes within them is sent together."""
LONGEST = 15 * 60.0
"""Seconds; then the browser comes back by itself, and where it was."""
LOOK_SECONDS = 5.0
THREADS = 2

BEAT = b": nothing new\n\n"
BEGIN = b"retry: 2000\n\n"

_workers = Workers(THREADS)


@dataclass(frozen=True, slots=True)
class News:
    """What a look found: as HTML, empty for nothing, the key of the last that it looked at, and
    whether there is more after it.
    """

    html: str
    key: int
    has_more: bool = False


Look = Callable[[int], News]
"""What came after that key. Raises ContextdError."""


async def stream(look: Look, after: int) -> AsyncIterator[bytes]:
    """Events until the client goes, is not let in any more, or has listened for long enough."""
    until = time.monotonic() + LONGEST
    let_thread_go()
    with Wakeup() as wakeup:
        yield BEGIN
        while time.monotonic() < until and not wakeup.is_over:
            wakeup.event.clear()
            try:
                news = await looked(look, after)
            except ContextdError:
                return
            yield as_event(news) if news.html else BEAT
            after = news.key
            if news.has_more:
                continue
            await asyncio.sleep(GATHERED)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(wakeup.event.wait(), BEATS)


async def looked(look: Look, after: int) -> News:
    try:
        find = partial(look, after)
        return await _workers.run_safely("live calls", find, seconds=LOOK_SECONDS)
    except (Busy, TimedOut):
        return News("", after)  # the next beat looks again


def let_thread_go() -> None:
    """Django's handler keeps one for each request until it is answered, which here is late."""
    context = SyncToAsync.thread_sensitive_context.get(None)
    if context and (executor := SyncToAsync.context_to_thread_executor.pop(context, None)):
        executor.shutdown(wait=False)


class Wakeup:
    """Wakes a stream when any process records calls, when permissions change, and on shutdown."""

    def __init__(self) -> None:
        self.event = asyncio.Event()
        self.is_over = False
        self._loop = asyncio.get_running_loop()

    def __enter__(self) -> Self:
        self._silence = changes.subscribe(self._hear)
        serving_ends.connect(self._hear_end)
        return self

    def __exit__(self, *_: object) -> None:
        self._silence()
        serving_ends.disconnect(self._hear_end)

    def _hear(self, told: changes.Announcement) -> None:
        if isinstance(told, AccessChanged | CallsRecorded):
            self._loop.call_soon_threadsafe(self.event.set)

    def _hear_end(self, **signal: Any) -> None:
        self.is_over = True
        self.event.set()


def as_event(news: News) -> bytes:
    lines = "".join(f"data: {line}\n" for line in news.html.splitlines())
    return f"event: calls\nid: {news.key}\n{lines}\n".encode()

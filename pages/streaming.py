"""Server-sent events: new data is queried when a process announces some.

A waiting stream holds a task of the event loop, but neither a thread nor a database connection.
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
from contextd.concurrency import PlaceLimit
from contextd.errors import Busy, ContextdError, TimedOut
from contextd.signals import serving_ends
from contextd.workers import Workers

BEATS = 25.0
"""Seconds between queries without an announcement; also keeps proxies from timing out."""
GATHERED = 0.5
"""Seconds within which new data is sent together."""
MAX_STREAM_SECONDS = 15 * 60.0
"""Maximum seconds of a stream; the browser then reconnects and resumes."""
LOOK_SECONDS = 5.0
THREADS = 2
MAX_STREAMS = 200
MAX_STREAMS_PER_PRINCIPAL = 10

BEAT = b": nothing new\n\n"
BEGIN = b"retry: 2000\n\n"
LATER = b"retry: 60000\n\n"

places = PlaceLimit(MAX_STREAMS, MAX_STREAMS_PER_PRINCIPAL)
_workers = Workers(THREADS)


@dataclass(frozen=True, slots=True)
class News:
    """The result of a query: HTML, empty for none, the last key seen, and whether more follows."""

    html: str
    key: int
    has_more: bool = False


Look = Callable[[int], News]
"""Queries what follows a key. Raises ContextdError."""


async def stream(principal: str, look: Look, after: int) -> AsyncIterator[bytes]:
    """Yield events until the client disconnects, loses access, or reaches the maximum duration.

    If too many streams are open, only tell the browser to come back later.
    """
    let_thread_go()
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(places.place(principal, "live views"))
        except Busy:
            yield LATER
            return
        wakeup = held.enter_context(Wakeup())
        until = time.monotonic() + MAX_STREAM_SECONDS
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
        return News("", after)  # the next query retries


def let_thread_go() -> None:
    """Release the thread that Django's handler holds until the end of a response."""
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

    def _hear(self, change: changes.Announcement) -> None:
        if isinstance(change, AccessChanged | CallsRecorded):
            self._loop.call_soon_threadsafe(self.event.set)

    def _hear_end(self, **signal: Any) -> None:
        self.is_over = True
        self.event.set()


def as_event(news: News) -> bytes:
    lines = "".join(f"data: {line}\n" for line in news.html.splitlines())
    return f"event: calls\nid: {news.key}\n{lines}\n".encode()

"""Notice whether an upstream still sends anything."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

import anyio
from mcp.shared.message import SessionMessage

from contextd.mcp.sdk import ReadStream


class MonitoredStream:
    """The stream of an upstream's messages, each of which is a sign of life."""

    def __init__(self, incoming: ReadStream[SessionMessage | Exception]) -> None:
        self._incoming = incoming
        self._limit: asyncio.Timeout | None = None
        self._seconds = 0.0

    @asynccontextmanager
    async def limited_silence(self, seconds: float) -> AsyncIterator[None]:
        """Raises TimeoutError when nothing is heard for so many seconds."""
        self._seconds = seconds
        async with asyncio.timeout(seconds) as self._limit:
            try:
                yield
            finally:
                self._limit = None

    @property
    def last_context(self) -> Any:
        """Return the context of the last message, for the SDK; some streams have none."""
        return getattr(self._incoming, "last_context", None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def receive(self) -> SessionMessage | Exception:
        message = await self._incoming.receive()
        if self._limit and not self._limit.expired():
            self._limit.reschedule(asyncio.get_running_loop().time() + self._seconds)
        return message

    async def aclose(self) -> None:
        await self._incoming.aclose()

    async def __aenter__(self) -> Self:
        await self._incoming.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._incoming.__aexit__(kind, error, traceback)

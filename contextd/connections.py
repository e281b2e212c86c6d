"""Connections of clients: those that send no request are closed, so that others can connect."""

import asyncio
import resource
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

HEADER_SECONDS = 30.0
RESERVED = 256
"""Descriptors for everything else: the database, Valkey, files."""


def most_connections() -> int:
    """Return how many connections leave enough of the process's file descriptors."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 65_536 if descriptors == resource.RLIM_INFINITY else max(64, descriptors - RESERVED)


class Connection(HttpToolsProtocol):
    """Is closed unless the headers of a request are complete in time.

    If there are too many connections, the one that has waited longest for headers is closed.
    """

    most: ClassVar[int] = most_connections()
    _waiting: ClassVar[dict["Connection", asyncio.TimerHandle]] = {}

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._await_headers()
        if len(self.connections) > self.most:
            oldest = next(iter(self._waiting))
            oldest._stop_waiting()
            oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete:
            self._await_headers()

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_headers(self) -> None:
        if self not in self._waiting and not self.transport.is_closing():
            self._waiting[self] = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if timer := self._waiting.pop(self, None):
            timer.cancel()

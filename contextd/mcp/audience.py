"""Find the listeners that may still read a changed resource."""

import asyncio
from collections.abc import Awaitable, Callable

import anyio

from contextd.callers import Caller, Entry
from contextd.errors import ContextdError, NotAllowed, NotAuthenticated, NotFound
from contextd.mcp.resources import Resources

MAX_CHECKS_AT_ONCE = 4
"""Well below the number of workers, which calls need too."""
PAUSES_SECONDS = (0.2, 1.0)

DENIALS = (NotAuthenticated, NotAllowed, NotFound)

Reader = Callable[[], Awaitable[Caller]]
"""Returns the listening caller with its current permissions."""


class Audience:
    """Checks who may read a changed resource; callers with equal permissions are checked once.

    Create one per change, since permissions may have changed too.
    """

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._slots = asyncio.Semaphore(MAX_CHECKS_AT_ONCE)
        self._known: dict[tuple[str, Entry, str], bool] = {}
        self._is_unknown = False

    async def may_read(self, reader: Reader, uri: str) -> bool:
        """Return whether the reader may read the resource; True if that cannot be determined.

        The client knows the address already, since it subscribed to it; missing a change is worse.
        """
        for pause in PAUSES_SECONDS:
            if self._is_unknown:
                return True
            try:
                return await self._check(reader, uri)
            except ContextdError:
                await anyio.sleep(pause)
        self._is_unknown = True
        return True

    async def _check(self, reader: Reader, uri: str) -> bool:
        """Check once. Raise ContextdError if the answer cannot be determined now."""
        try:
            async with self._slots:
                caller = await reader()
                key = caller.principal, caller.entry, uri
                if key not in self._known:
                    self._known[key] = await self._resources.is_readable(uri, caller)
                return self._known[key]
        except DENIALS:
            return False

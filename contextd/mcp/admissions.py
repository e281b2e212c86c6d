"""Authenticate HTTP requests, and remember each outcome for a second or until access changes."""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from contextd import auth, changes
from contextd.auth import Admission, RequestIdentity
from contextd.bus import AccessChanged
from contextd.errors import ContextdError, NotAllowed, NotAuthenticated, NotFound
from contextd.workers import Workers

CACHED_SECONDS = 1.0
"""Upper bound, in seconds, on staleness for changes that nobody announced, such as manual SQL."""
MAX_CACHED = 1000
LOOKUP_EVERY_SECONDS = 15.0
"""Interval for streams that stay open, since expiry is not announced."""

Key = tuple[str | None, bool, str | None]
"""The credential, whether it was sent from this machine, and the name of a context."""


@dataclass(frozen=True, slots=True)
class Cached:
    admission: Admission
    until: float


class Admissions:
    """Looks up the sender of each request, in its own threads, behind a short-lived cache."""

    def __init__(self, look_ups: Workers) -> None:
        self._look_ups = look_ups
        self._cache: dict[Key, Cached] = {}
        self._changes_heard = 0

    @contextlib.contextmanager
    def hearing(self) -> Iterator[None]:
        """Clear the cache whenever somebody's permissions change."""
        end = changes.subscribe(self._hear)
        try:
            yield
        finally:
            end()

    async def admit(self, identity: RequestIdentity) -> Admission:
        """Return the sender's admission. Raise ContextdError if refused, which is not cached."""
        key = (identity.authorization, identity.is_from_this_machine, identity.context)
        cached = self._cache.get(key)
        if cached is not None and time.monotonic() < cached.until:
            return cached.admission
        heard = self._changes_heard
        admission = await self._look_ups.run_safely(
            "authentication", partial(auth.admit, identity, door="mcp")
        )
        if heard == self._changes_heard:
            self._remember(key, admission)
        return admission

    async def lapse(self, identity: RequestIdentity) -> None:
        """Wait until the sender would be refused."""
        may_have_changed = asyncio.Event()
        wake = partial(asyncio.get_running_loop().call_soon_threadsafe, may_have_changed.set)

        def hear(announcement: changes.Announcement) -> None:
            if isinstance(announcement, AccessChanged):
                wake()

        end = changes.subscribe(hear)
        try:
            while await self._lets_in(identity):
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LOOKUP_EVERY_SECONDS):
                        await may_have_changed.wait()
                may_have_changed.clear()
        finally:
            end()

    async def _lets_in(self, identity: RequestIdentity) -> bool:
        try:
            await self.admit(identity)
        except (NotAuthenticated, NotAllowed, NotFound):
            return False
        except ContextdError:
            return True  # unknown for now; the look-up is repeated
        return True

    def _remember(self, key: Key, admission: Admission) -> None:
        if len(self._cache) >= MAX_CACHED:
            self._cache.clear()
        self._cache[key] = Cached(admission, time.monotonic() + CACHED_SECONDS)

    def _hear(self, announcement: changes.Announcement) -> None:
        if isinstance(announcement, AccessChanged):
            self._changes_heard += 1
            self._cache.clear()

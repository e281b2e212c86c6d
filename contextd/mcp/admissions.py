"""Who is let in over HTTP, asked anew when something changed and each second."""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from contextd import auth, changes
from contextd.auth import Admission, Arrival
from contextd.bus import AccessChanged
from contextd.errors import ContextdError, NotAllowed, NotAuthenticated, NotFound
from contextd.mcp.workers import Workers

CACHED_SECONDS = 1.0
"""How long a change counts late that was not told, such as one by hand in the database."""
MAX_CACHED = 1000
LOOKUP_EVERY_SECONDS = 15.0
"""Seconds; for a stream that stays open. What expires is told by nobody."""

Key = tuple[str | None, bool, str | None]
"""A credential, whether it comes from this machine, and the name of a context."""


@dataclass(frozen=True, slots=True)
class Kept:
    admission: Admission
    until: float


class Admissions:
    """Looks up who sends a request, in threads of its own; what it finds it keeps for a moment."""

    def __init__(self, look_ups: Workers) -> None:
        self._look_ups = look_ups
        self._kept: dict[Key, Kept] = {}
        self._changes_heard = 0

    @contextlib.contextmanager
    def hearing(self) -> Iterator[None]:
        """Forget what is kept whenever somebody may use something else."""
        end = changes.subscribe(self._hear)
        try:
            yield
        finally:
            end()

    async def admit(self, arrival: Arrival) -> Admission:
        """Raises ContextdError for who is not let in, which is never kept."""
        key = (arrival.authorization, arrival.is_from_this_machine, arrival.context)
        kept = self._kept.get(key)
        if kept is not None and time.monotonic() < kept.until:
            return kept.admission
        heard = self._changes_heard
        admission = await self._look_ups.run_safely(
            "authentication", partial(auth.admit, arrival, door="mcp")
        )
        if heard == self._changes_heard:
            self._keep(key, admission)
        return admission

    async def lapse(self, arrival: Arrival) -> None:
        """Returns when who sent it would not be let in any more."""
        may_have_changed = asyncio.Event()
        wake = partial(asyncio.get_running_loop().call_soon_threadsafe, may_have_changed.set)

        def hear(told: changes.Told) -> None:
            if isinstance(told, AccessChanged):
                wake()

        end = changes.subscribe(hear)
        try:
            while await self._lets_in(arrival):
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LOOKUP_EVERY_SECONDS):
                        await may_have_changed.wait()
                may_have_changed.clear()
        finally:
            end()

    async def _lets_in(self, arrival: Arrival) -> bool:
        try:
            await self.admit(arrival)
        except (NotAuthenticated, NotAllowed, NotFound):
            return False
        except ContextdError:
            return True  # nobody can tell now; it is asked again
        return True

    def _keep(self, key: Key, admission: Admission) -> None:
        if len(self._kept) >= MAX_CACHED:
            self._kept.clear()
        self._kept[key] = Kept(admission, time.monotonic() + CACHED_SECONDS)

    def _hear(self, told: changes.Told) -> None:
        if isinstance(told, AccessChanged):
            self._changes_heard += 1
            self._kept.clear()

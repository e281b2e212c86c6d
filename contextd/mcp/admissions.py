"""Who is let in over HTTP."""

from functools import partial

from contextd import auth
from contextd.auth import Admission, Arrival
from contextd.mcp.workers import Workers


class Admissions:
    """Looks up who sends a request, in threads of its own."""

    def __init__(self, look_ups: Workers) -> None:
        self._look_ups = look_ups

    async def admit(self, arrival: Arrival) -> Admission:
        return await self._look_ups.run_concealed(
            "authentication",
            partial(auth.admit, arrival, door="mcp"),
            seconds=auth.LOOKUP_SECONDS,
        )

"""How long what was read from the database may be taken for true."""

import time
from dataclasses import dataclass

from contextd import changes
from contextd.bus import Change

SURE_SECONDS = 1.0
"""Seconds an unannounced change, such as a manual one in the database, may go unnoticed."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A time, and the number of changes that had been announced by then."""

    seconds: float
    announced: int


class Freshness:
    """Lasts for a moment, and at most until the next change is announced."""

    def __init__(self) -> None:
        self._ends, self._announced = 0.0, 0
        changes.subscribe(self._note)

    @property
    def lasts(self) -> bool:
        return time.monotonic() < self._ends

    def now(self) -> Moment:
        return Moment(time.monotonic(), self._announced)

    def is_undisturbed(self, since: Moment) -> bool:
        """Return whether no change was announced since, so that what was read then holds."""
        return since.announced == self._announced

    def begin(self, since: Moment) -> None:
        self._ends = since.seconds + SURE_SECONDS

    def _note(self, announcement: changes.Announcement) -> None:
        if isinstance(announcement, Change):
            self._announced += 1
            self._ends = 0.0

"""How often something may be called."""

from dataclasses import dataclass

MAX_PERIOD_SECONDS = 3600
"""Seconds; a rate may be as small as one call in them."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A token bucket: `per_second` on average, `burst` at once."""

    per_second: float
    burst: int

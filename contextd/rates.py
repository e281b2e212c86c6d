"""Rate limits of calls."""

from dataclasses import dataclass

MAX_PERIOD_SECONDS = 3600
"""Longest period in seconds; a rate may be as low as one call per period."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A token bucket: `per_second` on average, `burst` at once."""

    per_second: float
    burst: int

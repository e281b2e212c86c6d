"""Rate limits of calls."""

from dataclasses import dataclass

MAX_PERIOD_SECONDS = 3600
"""Longest period in seconds; a rate may be as low as one call per period."""
SECONDS_OF = {"s": 1, "m": 60, "h": 60 * 60, "d": 24 * 60 * 60}


@dataclass(frozen=True, slots=True)
class Rate:
    """A token bucket: `per_second` on average, `burst` at once."""

    per_second: float
    burst: int


def read(setting: str) -> Rate:
    """Return the rate that a setting such as `200/s` means; a whole period's may come at once."""
    number, _, period = setting.partition("/")
    return Rate(int(number) / SECONDS_OF[period], burst=int(number))

"""How often something may be called."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rate:
    """A token bucket: `per_second` on average, `burst` at once."""

    per_second: float
    burst: int

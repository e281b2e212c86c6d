"""Waiting for what other threads and processes do."""

import time
from collections.abc import Callable

POLL_SECONDS = 0.05


def wait_for(
    condition: Callable[[], object], seconds: float = 60, explain: Callable[[], object] = str
) -> None:
    """Wait until the condition is true; fail after so many seconds with what `explain` returns."""
    assert is_true_within(seconds, condition), explain() or "it took too long"


def is_true_within(seconds: float, condition: Callable[[], object]) -> bool:
    """Return whether the condition becomes true within so many seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(POLL_SECONDS)
    return False

"""How long a failed upstream is left alone."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.supervision.upstream import MAX_PAUSE_SECONDS, pause_after


@given(failed=st.integers(1, 32_767), first=st.floats(0.01, 3600))
def test_the_pause_doubles_up_to_a_minute_with_jitter(failed: int, first: float) -> None:
    expected = min(first * 2 ** min(failed - 1, 64), max(first, MAX_PAUSE_SECONDS))

    assert 0.8 * expected <= pause_after(failed, first) <= 1.2 * expected

"""How many places may be taken at once, by all and by each principal, and how many tokens."""

from contextlib import ExitStack

import pytest

from contextd import concurrency, rates
from contextd.concurrency import Buckets, PlaceLimit
from contextd.errors import Busy, RateLimited


def test_no_principal_can_take_all_places() -> None:
    limit = PlaceLimit(total=3, per_principal=2)
    with ExitStack() as taken:
        for principal in ("ann", "ann", "bob"):
            taken.enter_context(limit.place(principal, "streams"))

        with pytest.raises(Busy, match="you have 2 streams open"), limit.place("ann", "streams"):
            pass
        with pytest.raises(Busy, match="3 streams are open here"), limit.place("bob", "streams"):
            pass

    with limit.place("ann", "streams"):
        pass


def test_a_place_is_given_back_when_the_block_fails() -> None:
    limit = PlaceLimit(total=1, per_principal=1)
    with pytest.raises(ValueError, match="broken"), limit.place("ann", "streams"):
        raise ValueError("broken")

    with limit.place("ann", "streams"):
        pass


def test_each_principal_has_a_bucket_that_fills_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("contextd.concurrency.time.monotonic", lambda: now)
    buckets = Buckets(rates.read("60/m"))
    buckets.take("ann", 60)

    with pytest.raises(RateLimited) as refused:
        buckets.take("ann")
    assert refused.value.details["retry_after"] == 1
    buckets.take("bob")
    now += 1
    buckets.take("ann")


def test_full_buckets_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("contextd.concurrency.time.monotonic", lambda: now)
    monkeypatch.setattr(concurrency, "MAX_BUCKETS", 1)
    buckets = Buckets(rates.read("1/h"))
    buckets.take("ann")
    now += 3600
    buckets.take("bob")

    assert set(buckets._full_at) == {"bob"}

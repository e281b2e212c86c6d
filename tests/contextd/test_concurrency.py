"""How many places may be taken at once, by all and by each principal."""

from contextlib import ExitStack

import pytest

from contextd.concurrency import PlaceLimit
from contextd.errors import Busy


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

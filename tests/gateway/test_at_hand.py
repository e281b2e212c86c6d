"""What upstreams offer is remembered for a moment, and no longer than it is true."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from contextd import changes
from contextd.bus import CallsRecorded, Change
from gateway import offering
from gateway.offering import Offer
from gateway.operations import Offered, as_tool

WIRE_NAME, CANONICAL = "git__log", "git:log"

Meanwhile = Callable[[], None]


@pytest.fixture
def while_read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Meanwhile]]:
    """What happens while it is read the next time."""
    happens: list[Meanwhile] = []
    editions = count()

    def edition() -> str:
        while happens:
            happens.pop()()
        return str(next(editions))

    monkeypatch.setattr(offering, "edition", edition)
    monkeypatch.setattr(changes, "_listeners", [])
    yield happens
    assert not happens


@pytest.fixture
def offered(while_read: list[Meanwhile]) -> Offered:
    definition = {"name": "log", "inputSchema": {"type": "object"}}
    one = Offer("git", "log", WIRE_NAME, definition, False, False, {}, 30)
    return Offered(lambda: [one], as_tool)


def a_tool_changes() -> None:
    changes.hear(Change(kind="tools"))


def test_what_was_read_a_moment_ago_is_at_hand_by_both_names(offered: Offered) -> None:
    assert offered.at_hand(WIRE_NAME) is None
    found = offered.find(WIRE_NAME)
    assert found is not None
    assert offered.at_hand(WIRE_NAME) is found
    assert offered.at_hand(CANONICAL) is found


def test_after_a_change_it_is_read_anew(offered: Offered) -> None:
    offered.all()
    a_tool_changes()
    assert offered.at_hand(WIRE_NAME) is None


def test_a_change_while_it_is_read_is_not_missed(
    offered: Offered, while_read: list[Meanwhile]
) -> None:
    while_read.append(a_tool_changes)
    assert offered.find(WIRE_NAME)
    assert offered.at_hand(WIRE_NAME) is None


def test_calls_that_were_recorded_change_nothing(offered: Offered) -> None:
    offered.all()
    changes.hear(CallsRecorded())
    assert offered.at_hand(WIRE_NAME)

"""Which callers share a process of an upstream."""

import psutil
import pytest

from contextd import pipeline
from contextd.callers import Caller, Entry
from contextd.errors import Busy, UpstreamFailed
from gateway.models import Isolation, State
from gateway.supervision import upstream as supervised
from tests.conftest import Call
from tests.gateway.conftest import Add, pid_of, wait_for_state
from tests.waiting import wait_for


def test_a_caller_whose_own_process_is_ending_gets_another_one(add: Add, call: Call) -> None:
    add()
    call("odd:pid")  # takes the first connection
    other = Caller(principal="somebody else", door="cli", entry=Entry(), connection="other")
    with pytest.raises(UpstreamFailed, match="went away during the call"):
        pipeline.call("odd:stubborn", {}, other)

    assert pipeline.call("odd:pid", {}, other).content  # type: ignore[attr-defined]


def test_what_the_process_of_one_caller_wrote_is_told_to_no_other(add: Add, call: Call) -> None:
    upstream = add(restart_attempts=0)
    other = Caller(principal="somebody else", door="cli", entry=Entry(), connection="other")
    with pytest.raises(UpstreamFailed, match="the disk is on fire"):
        call("odd:crash")
    wait_for_state(upstream, State.FAILED)

    with pytest.raises(UpstreamFailed, match=r"^odd is failed, so nothing was sent: it has ended$"):
        pipeline.call("odd:pid", {}, other)

    assert "the disk is on fire" in upstream.reason


def test_callers_do_not_share_a_process_unless_that_is_chosen(add: Add, call: Call) -> None:
    add()
    add("common", isolation=Isolation.SHARED)
    other = Caller(principal="somebody else", door="cli", entry=Entry(), connection="other")

    def theirs(name: str) -> str:
        return str(pipeline.call(name, {}, other).content[0]["text"])  # type: ignore[attr-defined]

    assert theirs("odd:pid") != str(pid_of(call))
    assert theirs("odd:pid") == theirs("odd:pid")
    assert theirs("common:pid") == str(pid_of(call, "common:pid"))


def test_a_call_may_have_a_process_of_its_own(add: Add, call: Call) -> None:
    add(isolation=Isolation.PER_CALL)

    first, second = pid_of(call), pid_of(call)

    assert first != second
    wait_for(lambda: not psutil.pid_exists(first))


def test_an_answer_does_not_wait_for_the_end_of_the_process(add: Add, call: Call) -> None:
    add(isolation=Isolation.PER_CALL)

    pid = int(call("odd:linger").content[0]["text"])

    assert psutil.pid_exists(pid)
    wait_for(lambda: not psutil.pid_exists(pid))


def test_calls_of_their_own_processes_are_limited(
    add: Add, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervised, "MAX_CONNECTIONS", 1)
    add(isolation=Isolation.PER_CALL)
    pid = int(call("odd:linger").content[0]["text"])

    with pytest.raises(Busy, match="odd already serves 1 calls; try again later"):
        call("odd:pid")

    wait_for(lambda: not psutil.pid_exists(pid))
    wait_for(lambda: is_served(call))


def is_served(call: Call) -> bool:
    try:
        return bool(pid_of(call))
    except Busy:
        return False


def test_the_connection_that_was_used_least_makes_room(
    add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervised, "MAX_CONNECTIONS", 1)
    add()

    def theirs(name: str) -> int:
        other = Caller(principal=name, door="cli", entry=Entry(), connection=name)
        return int(pipeline.call("odd:pid", {}, other).content[0]["text"])  # type: ignore[attr-defined]

    first, second, third = theirs("first"), theirs("second"), theirs("third")

    assert len({first, second, third}) == 3
    assert theirs("first") == first
    wait_for(lambda: not psutil.pid_exists(second))

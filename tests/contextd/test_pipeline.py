"""What happens to every call, whichever door it came in by."""

import dataclasses
import logging
import time
from collections.abc import Iterator
from typing import Any

import pytest

from contextd import limits, operations, pipeline
from contextd.callers import Caller
from contextd.errors import Internal, Invalid, NotAllowed, NotFound, RateLimited, TimedOut
from contextd.operations import Operation, Rate
from contextd.signals import operation_finished
from tests.conftest import Call
from tests.contextd import probes

pytestmark = pytest.mark.usefixtures("probing")


@pytest.fixture
def probing(declared: dict[str, Operation]) -> None:
    probes.declare()


@pytest.fixture
def finished() -> Iterator[list[dict[str, Any]]]:
    events: list[dict[str, Any]] = []

    def listen(**event: Any) -> None:
        events.append(event)

    operation_finished.connect(listen)
    yield events
    operation_finished.disconnect(listen)


@pytest.mark.parametrize("name", ["probe_doze", "probe_doze_later"])
def test_the_database_cancels_a_call_at_its_deadline(call: Call, name: str) -> None:
    started = time.monotonic()

    with pytest.raises(TimedOut, match=r"no answer within 0\.3 s"):
        call(name, seconds=30)
    assert time.monotonic() - started < 5


def test_the_connection_is_as_before_after_a_deadline(call: Call) -> None:
    with pytest.raises(TimedOut):
        call("probe_doze", seconds=30)

    probes.doze_in_database(0.5)
    assert call("probe_doze", seconds=0).seconds == 0


def test_a_bug_reaches_the_caller_as_a_reference_only(
    call: Call, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR), pytest.raises(Internal) as caught:
        call("probe_bug", seconds=1)

    reference = caught.value.details["reference"]
    assert "hunter2" not in str(caught.value.as_dict())
    assert reference in caught.value.message
    assert reference in caplog.text
    assert "ValueError" in caplog.text


def test_an_unknown_operation_is_reported(call: Call) -> None:
    with pytest.raises(NotFound, match="there is no operation named 'nope'"):
        call("nope")


def test_an_operation_answers_to_its_canonical_name_and_to_no_other_module(call: Call) -> None:
    assert call("checkpoints:checkpoint_list").total == 0
    with pytest.raises(NotFound):
        call("remediations:checkpoint_list")


def test_the_policy_can_refuse_a_caller(
    call: Call, caller: Caller, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(operation: Operation, caller: Caller) -> None:
        raise NotAllowed(f"{operation.name} is not for {caller.principal}")

    monkeypatch.setattr("contextd.guards._policy", lambda: refuse)

    with pytest.raises(NotAllowed, match="probe_note is not for tester"):
        call("probe_note", text="x")


def test_calls_over_the_burst_are_refused_with_the_wait(call: Call) -> None:
    """Two at once and one a second are allowed; a slow machine gives one or the other back."""
    with pytest.raises(RateLimited) as refused:
        [call("probe_scarce", text=str(number)) for number in range(20)]

    assert refused.value.text == "rate limit exceeded for tool: probe_scarce"
    assert 0 < refused.value.details["retry_after"] <= 1


def test_each_connection_and_each_tool_has_its_own_bucket(call: Call, caller: Caller) -> None:
    for _ in range(2):
        call("probe_scarce", text="x")

    other = dataclasses.replace(caller, connection="other")
    assert pipeline.call("probe_scarce", {"text": "x"}, other) == probes.Noted(text="x")
    assert call("probe_note", text="x").text == "x"


def test_new_connections_do_not_escape_the_bucket_of_the_caller(
    caller: Caller, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "PRINCIPAL_RATE", Rate(1, burst=2))

    connections = [dataclasses.replace(caller, connection=str(number)) for number in range(20)]

    with pytest.raises(RateLimited):
        [pipeline.call("probe_note", {"text": "x"}, connection) for connection in connections]


@pytest.mark.parametrize(("per_second", "wait"), [(0.1, 10), (1.5, 1 / 1.5)])
def test_a_rate_need_not_be_a_whole_number(
    call: Call, monkeypatch: pytest.MonkeyPatch, per_second: float, wait: float
) -> None:
    monkeypatch.setattr(limits, "PRINCIPAL_RATE", Rate(per_second, burst=1))

    with pytest.raises(RateLimited) as refused:
        [call("probe_note", text=str(number)) for number in range(20)]

    assert wait * 0.8 < refused.value.details["retry_after"] <= wait


def test_calls_pass_when_redis_is_down(
    call: Call, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    from contextd import limits, logs

    settings.REDIS_URL = "unix:///nowhere/redis.sock"
    limits._bucket.cache_clear()
    logs._recent_warnings.clear()
    try:
        assert [call("probe_note", text=text).text for text in "xyz"] == ["x", "y", "z"]
    finally:
        limits._bucket.cache_clear()
    assert caplog.text.count("rate limits are off") == 1


def test_rate_limits_can_be_switched_off(call: Call, settings: Any) -> None:
    settings.CONTEXTD_RATE_LIMITS = False

    assert [call("probe_scarce", text=str(n)).text for n in range(5)] == ["0", "1", "2", "3", "4"]


def test_credentials_are_replaced_in_what_is_written(call: Call) -> None:
    noted = call("probe_note", text="postgresql://app:s3cretpass@db/shop")

    assert noted.text == "postgresql://app:[REDACTED:url-password]@db/shop"
    assert noted.redacted == 1


def test_text_that_a_mark_makes_too_long_is_refused_with_the_reason(call: Call) -> None:
    text = "x" * 960 + " postgresql://app:s3cretpass@db/shop"

    with pytest.raises(
        Invalid, match=r"1000 .*[a-z], after a credential in it was replaced; leave the credential"
    ):
        call("probe_note", text=text)


def test_arguments_of_reads_are_not_redacted(call: Call) -> None:
    assert (
        call("checkpoint_search", query="password=s3cretpass123").query == "password=s3cretpass123"
    )


def test_every_outcome_is_announced_once(call: Call, finished: list[dict[str, Any]]) -> None:
    call("probe_note", text="x")
    with pytest.raises(Invalid):
        call("probe_note")
    with pytest.raises(Internal):
        call("probe_bug", seconds=1)

    outcomes = [(event["operation"].name, event["category"]) for event in finished]
    assert outcomes == [
        ("probe_note", "ok"),
        ("probe_note", "validation"),
        ("probe_bug", "internal"),
    ]
    assert all(0 <= event["seconds"] < 5 for event in finished)


def test_a_listener_that_fails_does_not_fail_the_call(call: Call) -> None:
    def listen(**event: Any) -> None:
        raise RuntimeError("listener")

    operation_finished.connect(listen)
    try:
        assert call("probe_note", text="x").text == "x"
    finally:
        operation_finished.disconnect(listen)


def test_an_operation_cannot_be_declared_twice() -> None:
    with pytest.raises(RuntimeError, match="declared twice"):
        operations.operation("status", effect="read", timeout=1)(probes.doze)

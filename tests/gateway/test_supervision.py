"""What becomes of an upstream that fails, and of the calls that run in it."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from django.db import connection

from contextd.errors import UpstreamFailed
from gateway import client, offering, place, services
from gateway.models import Isolation, State, Upstream
from gateway.supervision import connection as supervised_connection
from gateway.supervision import upstream as supervised
from tests.conftest import Call
from tests.gateway.conftest import MISBEHAVING, Add, pid_of, wait_for_state
from tests.waiting import wait_for


@contextmanager
def table_away(name: str) -> Iterator[None]:
    """Make what reads or writes the table fail."""
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {name} RENAME TO away")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE away RENAME TO {name}")


def test_a_crash_fails_the_call_at_once_with_the_last_words(add: Add, call: Call) -> None:
    upstream = add()
    before = pid_of(call)

    with pytest.raises(UpstreamFailed, match=r"(?s)went away during the call.*the disk is on fire"):
        call("odd:crash")

    wait_for(lambda: upstream.events.filter(state=State.BACKOFF).exists())
    wait_for_state(upstream, State.READY)
    assert pid_of(call) != before
    assert not psutil.pid_exists(before)


def test_one_that_does_not_answer_any_more_is_replaced(add: Add, call: Call) -> None:
    upstream = add(heartbeat_interval_ms=200, stale_timeout_ms=300)
    before = pid_of(call)

    with pytest.raises(UpstreamFailed, match="went away during the call"):
        call("odd:wedge")

    wait_for(lambda: upstream.events.filter(state=State.BACKOFF).exists())
    wait_for_state(upstream, State.READY)
    reasons = [event.reason for event in upstream.events.filter(state=State.BACKOFF)]
    assert "it has not answered for 0.3 s" in reasons[0]
    assert not psutil.pid_exists(before)


def test_a_busy_upstream_that_reports_progress_is_not_replaced(add: Add, call: Call) -> None:
    upstream = add(heartbeat_interval_ms=200, stale_timeout_ms=1000)

    assert call("odd:busy").content[0]["text"] == "done"

    assert not upstream.events.filter(state=State.BACKOFF).exists()


def test_a_flood_ends_the_upstream_not_the_gateway(add: Add, call: Call) -> None:
    add()
    add("calm")

    with pytest.raises(UpstreamFailed, match=r"(?s)went away.*a line of more than 4194304 bytes"):
        call("odd:flood")

    assert call("calm:echo").content


@pytest.mark.parametrize("name", ["deep", "digits", "bytes", "late_id"])
def test_an_answer_that_no_parser_takes_ends_its_call_alone(
    add: Add, call: Call, name: str
) -> None:
    add()
    before = pid_of(call)

    with pytest.raises(UpstreamFailed, match="not a JSON-RPC message that can be read"):
        call(f"odd:{name}")

    assert pid_of(call) == before


@pytest.mark.parametrize("name", ["large", "large_last"])
def test_an_answer_that_is_too_large_ends_its_call_alone(add: Add, call: Call, name: str) -> None:
    add()
    before = pid_of(call)

    with pytest.raises(
        UpstreamFailed, match=r"larger than 4194304 bytes .CONTEXTD_GATEWAY_MESSAGE"
    ):
        call(f"odd:{name}")

    assert pid_of(call) == before


def test_how_large_an_answer_may_be_can_be_set(add: Add, call: Call, settings: object) -> None:
    settings.CONTEXTD_GATEWAY_MESSAGE_MB = 8  # type: ignore[attr-defined]
    add()

    assert len(call("odd:sheet").content[0]["text"]) == 5_000_000


def test_an_answer_without_an_id_ends_the_connection_with_the_reason(add: Add, call: Call) -> None:
    add()

    with pytest.raises(UpstreamFailed, match="without a readable id"):
        call("odd:nameless")


@pytest.mark.parametrize("isolation", [Isolation.SHARED, Isolation.PER_USER])
def test_a_call_after_the_end_of_an_upstream_says_that_nothing_was_sent(
    add: Add, call: Call, isolation: Isolation
) -> None:
    upstream = add(isolation=isolation)
    with pytest.raises(UpstreamFailed, match="went away during the call"):
        call("odd:stubborn")

    with pytest.raises(UpstreamFailed, match="odd is ending, so nothing was sent"):
        call("odd:echo")

    assert upstream.events.filter(state=State.BACKOFF).count() == 0


def test_a_changed_row_restarts_it(add: Add, call: Call) -> None:
    upstream = add()
    before = pid_of(call)

    services.touch(upstream)
    wait_for(lambda: not psutil.pid_exists(before))
    wait_for_state(upstream, State.READY)

    assert pid_of(call) != before


def test_removed_it_leaves_nothing(add: Add, call: Call) -> None:
    upstream = add()
    before = pid_of(call)

    services.remove(upstream)
    wait_for(lambda: not psutil.pid_exists(before))

    assert not psutil.pid_exists(before)


def test_one_slow_upstream_delays_no_other(add: Add, call: Call) -> None:
    add()
    add("calm")
    failures: list[Exception] = []

    def wait_in_vain() -> None:
        try:
            call("odd:wedge")
        except UpstreamFailed as error:
            failures.append(error)

    slow = threading.Thread(target=wait_in_vain)
    slow.start()

    began = time.monotonic()
    call("calm:echo")
    quick = time.monotonic() - began

    client.control("restart", "odd")
    slow.join()
    assert quick < 5
    assert len(failures) == 1


def test_the_socket_is_for_our_user_alone(gateway: None) -> None:
    assert place.socket_path().stat().st_mode & 0o777 == 0o600


def test_without_a_gateway_a_call_says_so(db: None, call: Call, upstream: Upstream) -> None:
    with pytest.raises(UpstreamFailed, match="the gateway is not running"):
        call("odd:echo")


def test_what_has_left_its_group_ends_with_it(add: Add, call: Call) -> None:
    upstream = add()
    helper = pid_of(call, "odd:spawn")

    services.remove(upstream)

    wait_for(lambda: not psutil.pid_exists(helper))


def test_one_without_tools_is_of_use_for_its_prompts(add: Add) -> None:
    add(command=[sys.executable, MISBEHAVING, "--without-tools"])

    assert [offer.canonical for offer in offering.offered_prompts()] == ["odd:greet"]
    assert offering.offered() == []


def test_a_list_that_was_not_taken_is_no_reason_any_more_when_one_is(add: Add, call: Call) -> None:
    upstream = add()
    call("odd:vanish")
    call("odd:poison", description="Said anew")
    told = Upstream.objects.filter(pk=upstream.pk, reason__contains="is not accepted")
    wait_for(told.exists)

    call("odd:grow", tool="new")

    wait_for(lambda: not told.exists())
    upstream.refresh_from_db()
    assert (upstream.state, upstream.reason) == (State.READY, "")


def test_a_subscription_that_has_ended_is_renewed_and_the_lists_are_read_again(
    add: Add, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervised_connection, "RESUBSCRIBE_SECONDS", 0.2)
    add(command=[sys.executable, MISBEHAVING, "--modern"])

    call("odd:grow", tool="new", is_silent=True)

    wait_for(lambda: "odd:new" in [offer.canonical for offer in offering.offered()])


def test_lists_that_cannot_be_saved_are_read_again(
    add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervised, "SAVE_AGAIN_SECONDS", 0.2)
    with table_away("gateway_upstreamfeature"):
        upstream = add()

        assert "its tools could not be saved" in upstream.reason
        assert not upstream.events.filter(state=State.BACKOFF).exists()

    wait_for(lambda: "odd:echo" in [offer.canonical for offer in offering.offered()])
    wait_for(lambda: len(offering.offered_prompts()) == 1)
    wait_for(Upstream.objects.filter(pk=upstream.pk, reason="").exists)


def test_a_state_that_cannot_be_saved_is_saved_later(
    add: Add, call: Call, caplog: pytest.LogCaptureFixture
) -> None:
    upstream = add(restart_attempts=0)

    with table_away("gateway_upstreamevent"):
        with pytest.raises(UpstreamFailed):
            call("odd:crash")
        wait_for(lambda: "state of an upstream could not be saved" in caplog.text)
        upstream.refresh_from_db()
        assert upstream.state == State.READY

    wait_for_state(upstream, State.FAILED)


def test_an_unexpected_error_of_the_supervision_is_a_reason(
    add: Add, settings: object, caplog: pytest.LogCaptureFixture
) -> None:
    folder = Path(settings.DATA_DIR) / "gateway-containers.new"  # type: ignore[attr-defined]
    folder.mkdir()

    try:
        upstream = add(
            transport="docker",
            container="box",
            command=["cat"],
            expect=State.FAILED,
            restart_attempts=0,
        )
    finally:
        folder.rmdir()

    assert "internal error: IsADirectoryError" in upstream.reason
    assert "an error in the supervision of odd" in caplog.text


def test_switched_off_while_it_waits_there_is_no_next_try(add: Add) -> None:
    upstream = add(command=["false"], restart_backoff_ms=60_000, expect=State.BACKOFF)
    assert upstream.next_retry_at

    upstream.is_enabled = False
    upstream.save()

    wait_for_state(upstream, State.STOPPED)
    assert upstream.next_retry_at is None

"""Callers of an upstream while it starts, stops, or is replaced after a change of its row."""

import shlex
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil
import pytest
from django.db import connection

from contextd.errors import ContextdError, UpstreamFailed
from gateway import client, offering, services
from gateway.models import Isolation, Kind, State, Upstream
from gateway.supervision import upstream as supervised
from gateway.supervision.upstream import SupervisedUpstream
from tests.conftest import Call
from tests.gateway.conftest import MISBEHAVING, Add, running_servers
from tests.waiting import wait_for

SERVER = shlex.join([sys.executable, MISBEHAVING])
SILENT = ["sleep", "1000"]
SLOW_TO_START = ["sh", "-c", f"sleep 1; exec {SERVER}"]
SLOW_TO_END = ["sh", "-c", f"trap '' TERM; {SERVER}; sleep 1000"]


@contextmanager
def in_thread(work: Callable[[], object]) -> Iterator[list[object]]:
    """Collect what the work returns or raises; it has ended when the block is left."""
    outcomes: list[object] = []

    def run() -> None:
        try:
            outcomes.append(work())
        except ContextdError as error:
            outcomes.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    yield outcomes
    thread.join()


def pid_of(call: Call) -> int:
    return int(call("odd:pid").content[0]["text"])


def test_slow_failing_starts_count_as_attempts(add: Add, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised, "STEADY_SECONDS", 0.1)

    upstream = add(command=SILENT, startup_timeout_ms=300, restart_attempts=1, expect=State.FAILED)

    assert "given up after 2 attempts" in upstream.reason


def test_a_call_during_the_stop_waits_for_the_successor(add: Add, call: Call) -> None:
    upstream = add(command=SLOW_TO_END)
    server = psutil.Process(pid_of(call))
    shell = server.parent()
    assert shell

    services.touch(upstream)
    wait_for(lambda: not server.is_running())
    successor = pid_of(call)

    assert not shell.is_running()
    assert successor != server.pid
    upstream.refresh_from_db()
    assert upstream.state == State.READY


@pytest.fixture
def is_waiting(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set when somebody waits for the outcome of a start."""
    event, wait = threading.Event(), SupervisedUpstream._wait_until_ready

    async def notify_and_wait(upstream: SupervisedUpstream) -> None:
        event.set()
        await wait(upstream)

    monkeypatch.setattr(SupervisedUpstream, "_wait_until_ready", notify_and_wait)
    return event


@pytest.mark.parametrize("action", ["restart", "refresh"])
def test_a_command_that_waits_for_a_start_gets_the_successor(
    is_waiting: threading.Event, add: Add, action: str
) -> None:
    upstream = add(command=SILENT, startup_timeout_ms=60_000, expect=State.STARTING)
    with in_thread(lambda: client.control(action, "odd")) as outcomes:
        is_waiting.wait()
        upstream.command = [sys.executable, MISBEHAVING]
        upstream.save()

    assert outcomes == ["ready"]


def test_a_call_that_waits_for_a_start_gets_the_successor(add: Add, call: Call) -> None:
    upstream = add(command=SILENT, startup_timeout_ms=60_000, expect=State.STARTING)
    add_tool(upstream, "pid")
    with in_thread(lambda: pid_of(call)) as outcomes:
        upstream.command = [sys.executable, MISBEHAVING]
        upstream.save()

    assert psutil.pid_exists(int(str(outcomes[0])))


def add_tool(upstream: Upstream, name: str) -> None:
    listed = [{"name": name, "inputSchema": {"type": "object"}}]
    offering.save_listing(upstream.pk, Kind.TOOL, listed)


def test_a_crash_after_a_restart_during_the_start_is_recorded(add: Add, call: Call) -> None:
    upstream = add(command=SLOW_TO_START, expect=State.STARTING)
    client.control("restart", "odd")

    with pytest.raises(UpstreamFailed, match="went away during the call"):
        call("odd:crash")

    wait_for(lambda: upstream.events.filter(state=State.BACKOFF).exists())


def disable(upstream: Upstream) -> None:
    upstream.is_enabled = False
    upstream.save()


def restart(upstream: Upstream) -> None:
    client.control("restart", upstream.namespace)


@pytest.mark.parametrize("end", [disable, restart])
def test_a_call_with_its_own_process_ends_with_the_upstream(
    add: Add, call: Call, end: Callable[[Upstream], None]
) -> None:
    upstream = add(isolation=Isolation.PER_CALL)
    with in_thread(lambda: call("odd:hang")) as outcomes:
        wait_for(lambda: len(running_servers()) == 2)
        end(upstream)

    assert isinstance(outcomes[0], UpstreamFailed)

"""The process `manage.py gateway_run`."""

import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psutil
import pytest

from contextd.errors import UpstreamFailed
from gateway import place, services
from gateway.models import Isolation, State, Transport, Upstream
from tests.conftest import Call
from tests.gateway.conftest import MISBEHAVING, wait_for_state
from tests.server import ROOT, measured
from tests.waiting import wait_for


@contextmanager
def gateway_process(environment: Mapping[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(
        [sys.executable, "manage.py", "gateway_run"], cwd=ROOT, env=dict(environment)
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def number_in(call: Call, name: str) -> int:
    return int(call(name).content[0]["text"])


def test_nothing_is_left_however_it_ends(environment: Mapping[str, str], call: Call) -> None:
    upstream = Upstream(
        namespace="odd",
        transport=Transport.STDIO,
        command=[sys.executable, MISBEHAVING],
        isolation=Isolation.SHARED,
    )
    services.add(upstream, {})
    with gateway_process(environment) as first:
        wait_for_state(upstream, State.READY)
        server, helper = number_in(call, "odd:pid"), number_in(call, "odd:spawn")
        first.send_signal(signal.SIGKILL)
        first.wait()
        with pytest.raises(UpstreamFailed, match="the gateway is not running"):
            call("odd:echo")
        wait_for(lambda: not psutil.pid_exists(server))
        assert psutil.pid_exists(helper)

    with gateway_process(measured(environment)) as second:
        wait_for(lambda: not psutil.pid_exists(helper))
        wait_for(lambda: is_reached(call))
        server, helper = number_in(call, "odd:pid"), number_in(call, "odd:spawn")
        second.send_signal(signal.SIGTERM)
        assert second.wait(20) == 0

    # Killed at once; whoever inherits an orphan may take a moment to bury it.
    wait_for(lambda: not psutil.pid_exists(server) and not psutil.pid_exists(helper))
    assert not place.socket_path().exists()
    upstream.refresh_from_db()
    assert upstream.state == State.STOPPED


def is_reached(call: Call) -> bool:
    try:
        call("odd:echo")
    except UpstreamFailed:
        return False
    return True


def test_a_second_one_does_not_start(gateway: None, environment: Mapping[str, str]) -> None:
    ended = subprocess.run(
        [sys.executable, "manage.py", "gateway_run"],
        cwd=ROOT,
        env=measured(environment),
        capture_output=True,
        check=False,
        timeout=60,
    )

    assert ended.returncode == 1
    assert b"another gateway is listening on" in ended.stderr

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from contextd.workers import Workers
from gateway import offering, services
from gateway.models import Kind, State, Transport, Upstream
from gateway.supervision import methods, serving
from gateway.supervision.processes import MARK, mark
from gateway.supervision.supervisor import Supervisor
from tests.conftest import Call
from tests.waiting import wait_for

MISBEHAVING = str(Path(__file__).with_name("misbehaving.py"))
TIMEOUT_SECONDS = 60
SCHEMA = {"type": "object", "properties": {"$ref": {"type": "string"}}, "$defs": {"a": {}}}
ECHO = {"name": "echo", "description": "Say it again", "inputSchema": SCHEMA}


@pytest.fixture
def gateway(transactional_db: None) -> Iterator[None]:
    """What `gateway_run` runs, in a thread of this process."""
    started, loop = threading.Event(), asyncio.new_event_loop()
    end_requested = asyncio.Event()

    async def run() -> None:
        workers = Workers(2)
        supervisor = Supervisor(workers)
        async with serving.listening(methods.build(supervisor)):
            started.set()
            supervising = asyncio.create_task(supervisor.run())
            await end_requested.wait()
            supervising.cancel()
            await asyncio.wait([supervising])
        workers._executor.shutdown()  # its threads have connections to the database
        await loop.shutdown_default_executor()

    thread = threading.Thread(target=loop.run_until_complete, args=[run()])
    thread.start()
    assert started.wait(TIMEOUT_SECONDS)
    yield
    loop.call_soon_threadsafe(end_requested.set)
    thread.join(TIMEOUT_SECONDS)
    assert not thread.is_alive()
    loop.close()


Add = Callable[..., Upstream]


@pytest.fixture
def add(gateway: None) -> Add:
    """Add the misbehaving server as the upstream `odd`, or another one, and wait until it runs."""

    def add(namespace: str = "odd", expect: State = State.READY, **fields: Any) -> Upstream:
        settings = fields.pop("settings", {})
        stdio = {"transport": Transport.STDIO, "command": [sys.executable, MISBEHAVING]}
        upstream = Upstream(namespace=namespace, **{**stdio, "restart_backoff_ms": 50, **fields})
        services.add(upstream, settings)
        wait_for_state(upstream, expect)
        return upstream

    return add


@pytest.fixture
def upstream(transactional_db: None) -> Upstream:
    """Return the row of an upstream that nothing runs, with the tool `echo`."""
    upstream = Upstream(namespace="odd", transport="stdio", command=["true"])
    services.add(upstream, {})
    offering.save_listing(upstream.pk, Kind.TOOL, [{**ECHO, "annotations": {"readOnlyHint": True}}])
    return upstream


def wait_for_state(upstream: Upstream, *states: State) -> None:
    known = Upstream.objects.filter(pk=upstream.pk, state__in=states)
    wait_for(known.exists, explain=lambda: [str(event) for event in upstream.events.all()])
    upstream.refresh_from_db()


def running_servers() -> list[psutil.Process]:
    """Return the misbehaving servers of this test, including those in containers."""
    return [process for process in psutil.process_iter() if is_ours(process)]


def is_ours(process: psutil.Process) -> bool:
    """Other tests may run such servers at the same time."""
    with contextlib.suppress(psutil.Error):
        marked = process.environ().get(MARK, "")
        return MISBEHAVING in process.cmdline() and marked.startswith(mark())
    return False


def pid_of(call: Call, name: str = "odd:pid") -> int:
    return int(call(name).content[0]["text"])

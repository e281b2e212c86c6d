"""Servers that others publish, on this machine and over HTTP; test_docker.py has containers."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.models import Transport
from tests.conftest import Call
from tests.gateway.conftest import Add
from tests.gateway.published import EVERYTHING, MEMORY, check_everything, check_memory
from tests.node import needs_node, node
from tests.server import free_port, is_listening
from tests.waiting import wait_for


@pytest.fixture
def address(settings: object) -> Iterator[str]:
    """Yield where the reference server with everything listens."""
    settings.CONTEXTD_GATEWAY_PRIVATE_HOSTS = ["localhost"]  # type: ignore[attr-defined]
    port = free_port()
    environment = {**os.environ, "PORT": str(port)}
    command = [*node(EVERYTHING), "streamableHttp"]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)
    try:
        wait_for(lambda: is_listening(port))
        yield f"http://localhost:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def test_a_server_of_the_sdk_over_stdio(add: Add, call: Call) -> None:
    add("sdk", command=[sys.executable, str(Path(__file__).with_name("sdk_server.py"))])

    assert call("sdk:add", a=1, b=2).structured == {"result": 3}


@needs_node
def test_the_reference_server_with_everything(add: Add, call: Call) -> None:
    add("all", command=node(EVERYTHING))

    check_everything(call)


@needs_node
def test_the_reference_server_with_everything_over_http(address: str, add: Add, call: Call) -> None:
    add("all", transport=Transport.HTTP, url=address)

    check_everything(call)


@needs_node
def test_the_reference_server_with_a_memory(add: Add, call: Call, tmp_path: Path) -> None:
    settings = {"MEMORY_FILE_PATH": str(tmp_path / "memory.json")}
    add("memory", command=node(MEMORY), settings=settings)

    check_memory(call)

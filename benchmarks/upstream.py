"""An upstream that benchmarks call directly and through the MCP door of a server."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Self

from benchmarks import mcp, server

COMMAND = [sys.executable, str(server.ROOT / "tests/gateway/misbehaving.py")]
READY_SECONDS = 60


def manage(ours: server.Server, *words: str) -> str:
    environment = {**os.environ, "CONTEXTD_DATA_DIR": str(ours.data_dir)}
    command = [sys.executable, str(server.ROOT / "manage.py"), *words]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)  # noqa: S603
    return done.stdout


def add(ours: server.Server, namespace: str, *words: str) -> None:
    """Add an upstream with these words of `gateway add`; return once its tools are offered."""
    manage(ours, "gateway", "add", namespace, *words)
    if not_ready := wait_until_ready(ours, READY_SECONDS):
        raise RuntimeError("\n".join(not_ready))


def wait_until_ready(ours: server.Server, seconds: float) -> list[str]:
    """Wait for all upstreams; return the lines of those that are not ready after so long."""
    deadline = time.monotonic() + seconds
    while True:
        lines = manage(ours, "gateway", "list").splitlines()
        not_ready = [line for line in lines if not line.split("\t")[2].startswith("ready")]
        if not not_ready or time.monotonic() > deadline:
            return not_ready
        time.sleep(0.2)


@asynccontextmanager
async def direct() -> AsyncIterator[Callable[[], Awaitable[object]]]:
    """Yield a function that calls `echo` with nothing in between."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*COMMAND, stdin=pipe, stdout=pipe)
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("it has no pipes")
    to_process, from_process = process.stdin, process.stdout
    line = mcp.tool_call("echo", {}) + b"\n"

    async def call() -> object:
        to_process.write(line)
        return json.loads(await from_process.readline())

    yield call
    to_process.close()
    await process.wait()


class Door:
    """A keep-alive connection to `/mcp`."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the JSON-RPC response, whether it is a result or an error."""
        return await self._answer_to(mcp.http_request(self._port, tool, arguments))

    async def list_tools(self) -> dict[str, Any]:
        return await self._answer_to(mcp.http_list(self._port))

    async def _answer_to(self, request: bytes) -> dict[str, Any]:
        self._writer.write(request)
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        if b"content-length:" in head:
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
            body = await self._reader.readexactly(length)
        else:
            body = await self._chunks()
        answer: dict[str, Any] = json.loads(body[body.index(b"{") : body.rindex(b"}") + 1])
        return answer

    async def _chunks(self) -> bytes:
        body = b""
        while length := int(await self._reader.readline(), 16):
            body += await self._reader.readexactly(length)
            await self._reader.readline()
        await self._reader.readline()
        return body

"""An upstream to measure with: called directly, and through the door of a server."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Self

from benchmarks import server
from benchmarks.client import META, PROTOCOL

COMMAND = [sys.executable, str(server.ROOT / "tests/gateway/misbehaving.py")]
READY_SECONDS = 60


def manage(ours: server.Server, *words: str) -> str:
    environment = {**os.environ, "CONTEXTD_DATA_DIR": str(ours.data_dir)}
    command = [sys.executable, str(server.ROOT / "manage.py"), *words]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)  # noqa: S603
    return done.stdout


def add(ours: server.Server, namespace: str, command: list[str], *options: str) -> None:
    """Returns when its tools are offered."""
    manage(ours, "gateway", "add", namespace, *options, "--command", *command)
    until = time.monotonic() + READY_SECONDS
    while f"{namespace}\tstdio\tready" not in manage(ours, "gateway", "list"):
        if time.monotonic() > until:
            raise RuntimeError(manage(ours, "gateway", "show", namespace))
        time.sleep(0.2)


@asynccontextmanager
async def direct() -> AsyncIterator[Callable[[], Awaitable[object]]]:
    """How to call `echo` with nothing in between."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*COMMAND, stdin=pipe, stdout=pipe)
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("it has no pipes")
    to_process, from_process = process.stdin, process.stdout
    params = {"name": "echo", "arguments": {}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    line = json.dumps(request).encode() + b"\n"

    async def call() -> object:
        to_process.write(line)
        return json.loads(await from_process.readline())

    yield call
    to_process.close()
    await process.wait()


class Door:
    """One keep-alive connection to /mcp."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What comes back, whether it is a result or an error."""
        self._writer.write(self._request(tool, arguments))
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

    def _request(self, tool: str, arguments: dict[str, Any]) -> bytes:
        params = {"name": tool, "arguments": arguments, "_meta": META}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        body = json.dumps(message).encode()
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
            f"Content-Length: {len(body)}\r\nMCP-Protocol-Version: {PROTOCOL}\r\n"
            f"Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\n\r\n"
        )
        return head.encode() + body

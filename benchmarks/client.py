"""A minimal MCP client: raw keep-alive HTTP to `/mcp`, protocol 2026-07-28."""

import http.client
import itertools
import json
import time
from typing import Any

from benchmarks import mcp


class Client:
    """A connection that stays open; not safe for use by several threads."""

    def __init__(self, port: int, timeout: float = 120) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
        self._ids = itertools.count(1)

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Return the structured answer of a tool; raise when the tool fails."""
        answer = self._post(mcp.tool_call(name, arguments, next(self._ids)), name)
        if "error" in answer or answer["result"].get("isError"):
            raise RuntimeError(f"{name} failed: {json.dumps(answer)[:500]}")
        structured: dict[str, Any] = answer["result"]["structuredContent"]
        return structured

    def timed(self, name: str, **arguments: Any) -> tuple[dict[str, Any], float]:
        """Return the answer, and the milliseconds it took."""
        started = time.perf_counter()
        answer = self.call(name, **arguments)
        return answer, (time.perf_counter() - started) * 1000

    def _post(self, body: bytes, name: str) -> dict[str, Any]:
        self._connection.request("POST", "/mcp", body, mcp.headers_of(name))
        response = self._connection.getresponse()
        text = response.read().decode()
        if response.getheader("Content-Type", "").startswith("text/event-stream"):
            lines = [line[5:] for line in text.splitlines() if line.startswith("data:")]
            text = lines[-1]
        answer: dict[str, Any] = json.loads(text)
        return answer

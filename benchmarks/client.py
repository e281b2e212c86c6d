"""The leanest MCP client: raw keep-alive HTTP to `/mcp`, protocol 2026-07-28."""

import http.client
import itertools
import json
import time
from typing import Any

PROTOCOL = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": PROTOCOL,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
}


class Client:
    """One connection that stays open; not for use by several threads."""

    def __init__(self, port: int, timeout: float = 120) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
        self._ids = itertools.count(1)

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a tool; raises when the tool fails."""
        params = {"name": name, "arguments": arguments, "_meta": META}
        message = {
            "jsonrpc": "2.0",
            "id": next(self._ids),
            "method": "tools/call",
            "params": params,
        }
        answer = self._post(json.dumps(message), name)
        if "error" in answer or answer["result"].get("isError"):
            raise RuntimeError(f"{name} failed: {json.dumps(answer)[:500]}")
        structured: dict[str, Any] = answer["result"]["structuredContent"]
        return structured

    def timed(self, name: str, **arguments: Any) -> tuple[dict[str, Any], float]:
        """The answer, and how many milliseconds it took."""
        started = time.perf_counter()
        answer = self.call(name, **arguments)
        return answer, (time.perf_counter() - started) * 1000

    def _post(self, body: str, name: str) -> dict[str, Any]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": PROTOCOL,
            "Mcp-Method": "tools/call",
            "Mcp-Name": name,
        }
        self._connection.request("POST", "/mcp", body, headers)
        response = self._connection.getresponse()
        text = response.read().decode()
        if response.getheader("Content-Type", "").startswith("text/event-stream"):
            lines = [line[5:] for line in text.splitlines() if line.startswith("data:")]
            text = lines[-1]
        answer: dict[str, Any] = json.loads(text)
        return answer

"""Hand-made JSON-RPC messages, for what the SDK's client never sends."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2

from tests.clients import MODERN_VERSION

ACCEPT = "application/json, text/event-stream"
PREFIX = "io.modelcontextprotocol/"
ENVELOPE = {f"{PREFIX}protocolVersion": MODERN_VERSION, f"{PREFIX}clientCapabilities": {}}


def rpc(method: str, params: Any = None, id: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}


def initialize(version: str, capabilities: Any = None) -> dict[str, Any]:
    client = {"name": "plain", "version": "1"}
    offered = {"protocolVersion": version, "capabilities": capabilities or {}}
    return rpc("initialize", {**offered, "clientInfo": client})


def modern(method: str, **params: Any) -> dict[str, Any]:
    """Return the arguments of a POST in 2026-07-28."""
    headers = {"MCP-Protocol-Version": MODERN_VERSION, "Mcp-Method": method}
    if "name" in params:
        headers["Mcp-Name"] = params["name"]
    return {"json": rpc(method, {**params, "_meta": ENVELOPE}), "headers": headers}


def ask(http: httpx2.Client, method: str, headers: Any = None, **params: Any) -> Any:
    """Return the result of a call in 2026-07-28, or its error."""
    request = modern(method, **params)
    request["headers"] |= headers or {}
    response = http.post("/mcp", **request).json()
    return response.get("result") or response["error"]


def open_session(
    http: httpx2.Client,
    headers: dict[str, str] | None = None,
    capabilities: Any = None,
    version: str = "2025-11-25",
) -> dict[str, str]:
    """Open a session, and return its headers."""
    headers = headers or {}
    response = http.post("/mcp", json=initialize(version, capabilities), headers=headers)
    session = {"Mcp-Session-Id": response.headers["mcp-session-id"], **headers}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert http.post("/mcp", json=ready, headers=session).status_code == 202
    return session


def events(response: httpx2.Response) -> Iterator[Any]:
    """Yield the JSON-RPC messages of a stream as they arrive."""
    for line in response.iter_lines():
        if line.startswith("data: {"):
            yield json.loads(line.removeprefix("data: "))


def answer_of(response: httpx2.Response) -> Any:
    """Return the JSON-RPC message of a plain or streamed answer."""
    if response.headers["content-type"] == "application/json":
        return response.json()
    (line,) = [line for line in response.text.splitlines() if line.startswith("data: {")]
    return json.loads(line.removeprefix("data: "))

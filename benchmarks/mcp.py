"""The requests of an MCP client of 2026-07-28, as bytes, so that a benchmark times no SDK."""

import json
from collections.abc import Mapping
from typing import Any

PROTOCOL = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": PROTOCOL,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
}


LIST = json.dumps(
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
).encode()
"""The JSON-RPC message that lists the tools."""


def tool_call(name: str, arguments: Mapping[str, Any], id: int = 1) -> bytes:
    """Return the JSON-RPC message that calls a tool."""
    params = {"name": name, "arguments": arguments, "_meta": META}
    message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
    return json.dumps(message).encode()


def headers_of(name: str) -> dict[str, str]:
    """Return the HTTP headers of a call of that tool."""
    return {**headers_of_method("tools/call"), "Mcp-Name": name}


def headers_of_method(method: str) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": PROTOCOL,
        "Mcp-Method": method,
    }


def http_request(port: int, name: str, arguments: Mapping[str, Any]) -> bytes:
    """Return a whole HTTP request that calls a tool, for a connection that stays open."""
    return http_post(port, headers_of(name), tool_call(name, arguments))


def http_list(port: int) -> bytes:
    """Return a whole HTTP request that lists the tools."""
    return http_post(port, headers_of_method("tools/list"), LIST)


def http_post(port: int, headers: Mapping[str, str], body: bytes) -> bytes:
    headers = {"Host": f"127.0.0.1:{port}", **headers, "Content-Length": str(len(body))}
    lines = ["POST /mcp HTTP/1.1", *(f"{key}: {value}" for key, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode() + body

"""The SDK's own client, with a chosen protocol version."""

import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp.types as protocol
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client import session as sdk_session
from mcp.client.streamable_http import streamable_http_client

from tests.server import ROOT, Server

LEGACY_VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
MODERN_VERSION = "2026-07-28"
VERSIONS = [*LEGACY_VERSIONS, MODERN_VERSION]
CLIENT = protocol.Implementation(name="tester", version="1.2")


@asynccontextmanager
async def over_http(
    server: Server, version: str, headers: Mapping[str, str] | None = None
) -> AsyncIterator[ClientSession]:
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        streamable_http_client(f"{server.url}/mcp", http_client=http) as (incoming, outgoing),
        ClientSession(incoming, outgoing, client_info=CLIENT) as session,
    ):
        await negotiate(session, version)
        yield session


# While several test workers start processes, one of them may need longer than ten seconds.
sdk_session.DISCOVER_TIMEOUT_SECONDS = 60.0


@asynccontextmanager
async def over_stdio(environment: Mapping[str, str], version: str) -> AsyncIterator[ClientSession]:
    command = StdioServerParameters(
        command=sys.executable,
        args=["manage.py", "mcp_stdio"],
        env=dict(environment),
        cwd=ROOT,
    )
    async with (
        stdio_client(command) as (incoming, outgoing),
        ClientSession(incoming, outgoing, client_info=CLIENT) as session,
    ):
        await negotiate(session, version)
        yield session


async def negotiate(session: ClientSession, version: str) -> None:
    """Negotiate a version explicitly, since the client's own handshake offers only the newest."""
    if version == MODERN_VERSION:
        await session.discover()
        return
    parameters = protocol.InitializeRequestParams(
        protocol_version=version, capabilities=protocol.ClientCapabilities(), client_info=CLIENT
    )
    request = protocol.InitializeRequest(params=parameters)
    session.adopt(await session.send_request(request, protocol.InitializeResult))
    await session.send_notification(protocol.InitializedNotification())


def text_of(result: protocol.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, protocol.TextContent)
    return block.text


def structure_of(result: protocol.CallToolResult) -> Any:
    return result.structured_content

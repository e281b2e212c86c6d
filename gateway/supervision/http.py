"""Streamable HTTP to an upstream: only to addresses that are meant to be reached."""

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpcore2
import httpx2
from django.conf import settings
from mcp.client.streamable_http import streamable_http_client

from gateway import wire
from gateway.services import Plan
from gateway.supervision.failures import Lost
from gateway.supervision.processes import Tail

TIMEOUT = httpx2.Timeout(10, read=None)
JSON = "application/json"

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class Refused(OSError):
    """An address that upstreams may not have."""


@asynccontextmanager
async def connected(plan: Plan, tail: Tail) -> AsyncIterator[tuple[Any, Any]]:
    ensure_secure(plan.url)
    async with (
        httpx2.AsyncClient(
            transport=GuardedTransport(tail),
            headers=dict(plan.settings),
            timeout=TIMEOUT,
            trust_env=False,
        ) as client,
        streamable_http_client(
            plan.url, http_client=client, max_sse_event_size=wire.LONGEST_LINE
        ) as streams,
    ):
        yield streams


def ensure_secure(url: str) -> None:
    """Raises Lost for an address that would send what is secret in the clear."""
    parts = urlsplit(url)
    if parts.scheme == "http" and parts.hostname not in settings.CONTEXTD_GATEWAY_PRIVATE_HOSTS:
        raise Lost(
            f"{parts.hostname} is reached over https only, unless it is in "
            "CONTEXTD_GATEWAY_PRIVATE_HOSTS"
        )


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """Looks at each address that is connected to, so redirects and names that move are seen too."""

    def __init__(self, tail: Tail) -> None:
        super().__init__(trust_env=False)
        # The constructor has no parameter for it.
        self._pool._network_backend = GuardedNetwork(tail)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if response.headers.get("content-type", "").startswith(JSON):
            response.stream = Bounded(response.stream)
        return response


class Bounded(httpx2.AsyncByteStream):
    """An answer that is given up when it is longer than any should be."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for chunk in self._stream:
            length += len(chunk)
            if length > wire.LONGEST_LINE:
                raise httpx2.ReadError(f"an answer of more than {wire.LONGEST_LINE} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class GuardedNetwork(httpcore2.AnyIOBackend):
    def __init__(self, tail: Tail) -> None:
        super().__init__()
        self._tail = tail

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            address = await resolve(host, port)
        except OSError as error:
            self._tail.note(str(error))
            raise httpcore2.ConnectError(str(error)) from None
        return await super().connect_tcp(address, port, timeout, local_address, socket_options)


async def resolve(host: str, port: int) -> str:
    """The address to connect to: the one that was looked at. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]) for entry in found]
    if host not in settings.CONTEXTD_GATEWAY_PRIVATE_HOSTS:
        for address in addresses:
            if not is_public(ipaddress.ip_address(address.partition("%")[0])):
                raise Refused(
                    f"{host} is at {address}, which is not a public address; "
                    "if that is meant, name the host in CONTEXTD_GATEWAY_PRIVATE_HOSTS"
                )
    return addresses[0]


def is_public(address: Address) -> bool:
    """Whether it is, also where another address is wrapped in it."""
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not address.is_multicast
    if address in _NAT64:
        return is_public(ipaddress.IPv4Address(address.packed[-4:]))
    inner = address.ipv4_mapped or address.sixtofour
    return is_public(inner) if inner else address.is_global and not address.is_multicast

"""Locate the gateway: a socket private to our user, or another host that shares the token."""

import asyncio
import hashlib
import hmac
import secrets
import socket
from pathlib import Path

from django.conf import settings

from contextd.embedded import addresses

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]

GREETING_SECONDS = 5
LOOK_SECONDS = 2
KEEPALIVE = {"TCP_KEEPIDLE": 15, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 30_000}
"""TCP options that end a connection within 30 seconds after the other host is gone."""


class NotAdmitted(OSError):
    """The other side does not know the token."""


class Gone(NotAdmitted):
    """The other side ended the connection before it proved anything."""


def socket_path() -> Path:
    return addresses.socket_directory(settings.DATA_DIR) / "gateway.sock"


def host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def not_running() -> str:
    if settings.CONTEXTD_GATEWAY_ADDRESS:
        return "the gateway does not answer at CONTEXTD_GATEWAY_ADDRESS"
    return "the gateway is not running (`manage.py up` starts it)"


def problem() -> str:
    """Return why no gateway can be called, or an empty string. Blocks for a moment."""
    try:
        asyncio.run(look())
    except NotAdmitted as error:
        return str(error)
    except (OSError, ValueError):
        return not_running()
    return ""


async def look() -> None:
    async with asyncio.timeout(LOOK_SECONDS):
        _, writer = await reach()
        writer.close()


async def reach() -> Connection:
    """Return a connection on which both sides have proved the token. Raises OSError."""
    address = settings.CONTEXTD_GATEWAY_ADDRESS
    if not address:
        return await asyncio.open_unix_connection(socket_path())
    reader, writer = await asyncio.open_connection(*host_and_port(address))
    try:
        notice_lost_host(writer)
        await introduce(reader, writer)
    except BaseException:  # a time limit cancels it
        writer.close()
        raise
    return reader, writer


def notice_lost_host(writer: asyncio.StreamWriter) -> None:
    """End the connection if the other host is gone without closing it."""
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEPALIVE.items():
        if hasattr(socket, name):  # some exist on Linux only
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


async def introduce(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Authenticate mutually: each side proves that it knows the token without sending it."""
    theirs, ours = await read_word(reader), secrets.token_hex(32)
    writer.write(f"{proof('caller', theirs)}\n{ours}\n".encode())
    await writer.drain()
    if not is_same(await read_word(reader), proof("gateway", ours)):
        raise NotAdmitted("the gateway has a different token (CONTEXTD_GATEWAY_TOKEN)")


async def admit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Do the gateway's side of `introduce`. Raises NotAdmitted."""
    notice_lost_host(writer)
    ours = secrets.token_hex(32)
    writer.write(f"{ours}\n".encode())
    async with asyncio.timeout(GREETING_SECONDS):
        shown, theirs = await read_word(reader), await read_word(reader)
    if not is_same(shown, proof("caller", ours)):
        raise NotAdmitted("a caller has a different token")
    writer.write(f"{proof('gateway', theirs)}\n".encode())
    await writer.drain()


async def read_word(reader: asyncio.StreamReader) -> str:
    line = await reader.readline()
    if not line:
        raise Gone("the gateway has a different token (CONTEXTD_GATEWAY_TOKEN)")
    return line.decode("ascii", "replace").strip()


def is_same(shown: str, expected: str) -> bool:
    return hmac.compare_digest(shown.encode(), expected.encode())


def proof(role: str, challenge: str) -> str:
    token = settings.CONTEXTD_GATEWAY_TOKEN or ""  # with an address there is one
    return hmac.new(token.encode(), f"{role} {challenge}".encode(), hashlib.sha256).hexdigest()

"""Check the preconditions of an upstream's start, so that no attempt is wasted."""

import asyncio
import ipaddress
import os
import shutil
import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

from django.conf import settings

from gateway import services
from gateway.lost import Hopeless
from gateway.models import Transport, Upstream
from gateway.services import Plan

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
"""Everything outside is local, reserved or an IPv4 address in disguise."""


class Refused(OSError):
    """Raised for an address that upstreams may not use."""


def problem_of(upstream: Upstream) -> str:
    """Return why it cannot start as configured, or an empty string.

    A gateway on another host has its own programs and host names, so nothing is reported then.
    """
    if settings.CONTEXTD_GATEWAY_ADDRESS or not upstream.is_enabled:
        return ""
    try:
        asyncio.run(check(services.plan_of(upstream)))
    except Hopeless as problem:
        return str(problem)
    return ""


async def check(plan: Plan) -> None:
    """Raises Hopeless for an upstream that cannot start until a person changes something."""
    if plan.unreadable:
        raise Hopeless(plan.unreadable)
    if plan.transport == Transport.HTTP:
        ensure_headers(plan.settings)
        await ensure_reachable(plan.url)
    elif plan.transport == Transport.STDIO:
        program_of(plan)
    else:
        ensure_allowed(plan.command[0])


def ensure_headers(headers: Mapping[str, str]) -> None:
    """Raises Hopeless for a value that no header can have."""
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable() and value == value.strip()):
            raise Hopeless(f"the header {name} is not one line of ASCII; enter it again")


async def ensure_reachable(url: str) -> None:
    """Raises Hopeless for an address that is not public, or would get secrets in clear text.

    A host name that does not resolve now may do so later, so it passes.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        if parts.scheme == "http" and host not in settings.CONTEXTD_GATEWAY_PRIVATE_HOSTS:
            raise Refused(
                f"{host} is reached over https only, unless it is in CONTEXTD_GATEWAY_PRIVATE_HOSTS"
            )
        await resolve(host, parts.port or 0)
    except (Refused, ValueError) as refused:
        raise Hopeless(str(refused)) from None
    except OSError:
        pass


async def resolve(host: str, port: int) -> list[str]:
    """Return the checked addresses, which may be connected to. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]) for entry in found]
    if host not in settings.CONTEXTD_GATEWAY_PRIVATE_HOSTS:
        for address in addresses:
            if not is_public(ipaddress.ip_address(address.partition("%")[0])):
                raise Refused(
                    f"{host} is at {address}, which is not a public address; if that is intended, "
                    "add the host to CONTEXTD_GATEWAY_PRIVATE_HOSTS and restart contextd"
                )
    return addresses


def is_public(address: Address) -> bool:
    """Return whether the address, and any address embedded in it, is public."""
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not address.is_multicast
    if address in _NAT64:
        return is_public(ipaddress.IPv4Address(address.packed[-4:]))
    if inner := address.ipv4_mapped or address.sixtofour:
        return is_public(inner)
    return address.is_global and address in _GLOBAL_UNICAST


def program_of(plan: Plan) -> str:
    """Return the path of the program to start. Raises Hopeless."""
    name, folder = plan.command[0], plan.working_directory
    ensure_allowed(name)
    path = plan.settings.get("PATH", PATH)
    program = shutil.which(name, path=path)
    if program is None:
        where = "that can be run" if "/" in name else f"in {path}"
        raise Hopeless(
            f"there is no program {name!r} {where}; install it or correct the command, "
            "then restart the upstream"
        )
    if folder and not os.path.isdir(folder):  # Path.is_dir raises errors
        raise Hopeless(f"there is no folder {folder!r} to run it in, or it cannot be read")
    return program


def ensure_allowed(program: str) -> None:
    """Raises Hopeless for a command that is not in CONTEXTD_GATEWAY_COMMANDS, if that is set."""
    allowed = settings.CONTEXTD_GATEWAY_COMMANDS
    if (allowed or not settings.CONTEXTD_ANONYMOUS) and program not in allowed:
        raise Hopeless(f"{program!r} is not in CONTEXTD_GATEWAY_COMMANDS, so it is not started")

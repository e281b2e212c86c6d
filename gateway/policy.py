"""Check the preconditions of an upstream's start, so that no attempt is wasted."""

import asyncio
import ipaddress
import os
import re
import shutil
import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

from django.conf import settings

from gateway import services
from gateway.errors import Hopeless
from gateway.models import Transport, Upstream
from gateway.services import Plan

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

DECISIVE = re.compile(
    r"PATH|(LD|DYLD)_\w+|GCONV_PATH|ENV|BASH_ENV|NODE_(OPTIONS|PATH)|PYTHON(PATH|HOME|STARTUP)"
    r"|PERL5(LIB|OPT)|RUBY(LIB|OPT)|(JAVA_TOOL|JDK_JAVA|_JAVA)_OPTIONS"
)
"""Environment variables that make an allowed command run something else."""

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
        ensure_allowed(plan)


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
    ensure_allowed(plan)
    folder, path = plan.working_directory, plan.settings.get("PATH", PATH)
    if folder and not os.path.isdir(folder):  # Path.is_dir raises errors
        raise Hopeless(f"there is no folder {folder!r} to run it in, or it cannot be read")
    name = command_of(plan)
    program = shutil.which(name, path=path)
    if program is None:
        where = "that can be run" if "/" in name else f"in {path}"
        raise Hopeless(
            f"there is no program {name!r} {where}; install it or correct the command, "
            "then restart the upstream"
        )
    return os.path.abspath(program)


def command_of(plan: Plan) -> str:
    """Return the command; one with a relative path is relative to the working directory."""
    command = plan.command[0]
    return os.path.join(plan.working_directory, command) if "/" in command else command


def ensure_allowed(plan: Plan) -> None:
    """Raises Hopeless for a command that is not in CONTEXTD_GATEWAY_COMMANDS, if that is set."""
    allowed = settings.CONTEXTD_GATEWAY_COMMANDS
    if settings.CONTEXTD_ANONYMOUS and not allowed:
        return
    command = command_of(plan)
    if command not in allowed:
        raise Hopeless(f"{command!r} is not in CONTEXTD_GATEWAY_COMMANDS, so it is not started")
    if decisive := ", ".join(filter(DECISIVE.fullmatch, plan.settings)):
        raise Hopeless(
            f"{decisive} cannot be set while commands are limited to CONTEXTD_GATEWAY_COMMANDS, "
            "because the command could then run other programs; remove the setting"
        )

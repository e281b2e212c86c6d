"""Who is calling: from a credential to a Caller, one function a door."""

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, Self

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port
from django.utils.module_loading import import_string

from contextd import limits
from contextd.callers import Caller, Door, Principal
from contextd.errors import NotAuthenticated, NotFound

LOOKUP_SECONDS = 5
DEFAULT_CONTEXT = "default"
MAX_CLIENT_LENGTH = 100
FORWARDING_HEADERS = {"forwarded", "via", "x-real-ip"}
HOW_TO_AUTHENTICATE = (
    "make one with `python manage.py token create --user USER --name WHERE` "
    "and send it as `Authorization: Bearer TOKEN`"
)

ANONYMOUS = Principal(name="anonymous", is_local=True)


class Authenticate(Protocol):
    """Whom a token stands for; None when it is not valid."""

    def __call__(self, token: str) -> Principal | None: ...


@dataclass(frozen=True, slots=True)
class Arrival:
    """What an HTTP request shows of who sends it."""

    authorization: str | None
    peer: str
    host: str
    is_forwarded: bool

    @classmethod
    def of(cls, headers: Mapping[str, str], peer: str) -> Self:
        """`headers` by lower-case name."""
        return cls(
            authorization=headers.get("authorization"),
            peer=peer,
            host=headers.get("host", ""),
            is_forwarded=any(map(is_forwarding, headers)),
        )

    @property
    def is_from_this_machine(self) -> bool:
        domain, _port = split_domain_port(self.host)
        return (
            not self.is_forwarded and domain in settings.LOOPBACK_HOSTS and is_loopback(self.peer)
        )


def is_forwarding(header: str) -> bool:
    return header in FORWARDING_HEADERS or header.startswith("x-forwarded-")


def is_loopback(peer: str) -> bool:
    try:
        address = ipaddress.ip_address(peer)
    except ValueError:
        return False
    # A server that listens on `::` sees 127.0.0.1 as ::ffff:127.0.0.1.
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def bearer_token(arrival: Arrival) -> str | None:
    """The token it carries; None for the anonymous caller on this machine. Asks no database."""
    if arrival.authorization is None:
        if arrival.is_from_this_machine:
            return None
        raise NotAuthenticated(f"a token is needed: {HOW_TO_AUTHENTICATE}")
    scheme, _, token = arrival.authorization.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise NotAuthenticated(f"only bearer tokens are accepted: {HOW_TO_AUTHENTICATE}")
    return token.strip()


def principal_of(token: str | None) -> Principal:
    """A token that is not valid is refused, never taken as anonymous."""
    if token is None:
        return ANONYMOUS
    authenticate: Authenticate = import_string(settings.CONTEXTD_AUTHENTICATE)
    with limits.deadline(LOOKUP_SECONDS), limits.transaction():
        principal = authenticate(token)
    if principal is None:
        raise NotAuthenticated(f"the token is unknown, expired or revoked: {HOW_TO_AUTHENTICATE}")
    return principal


def context_named(name: str | None) -> str:
    """The MCP context that a request asks for; for now there is one."""
    if name in (None, DEFAULT_CONTEXT):
        return DEFAULT_CONTEXT
    raise NotFound(f"there is no context named {name[:64]!r}", context=name[:64])


def process_owner() -> Principal:
    """Whoever started this process; for doors that no one else can reach."""
    return Principal(name=f"local:{os.getuid()}", is_local=True)


def caller_of_mcp(
    principal: Principal, *, context: str, client: str, session_id: str | None
) -> Caller:
    return _caller(principal, "mcp", context=context, client=client, session_id=session_id)


def caller_of_django(request: HttpRequest, door: Door) -> Caller:
    headers = {name.lower(): value for name, value in request.headers.items()}
    arrival = Arrival.of(headers, request.META.get("REMOTE_ADDR", ""))
    return _caller(
        principal_of(bearer_token(arrival)),
        door,
        context=context_named(headers.get("x-mcp-context")),
        client=headers.get("user-agent", "-"),
    )


def caller_of_admin(request: HttpRequest) -> Caller:
    if not request.user.is_authenticated:
        raise NotAuthenticated("log in to the admin first")
    user_id = request.user.pk
    return _caller(Principal(name=f"user:{user_id}", user_id=user_id), "admin")


def local_caller(door: Door) -> Caller:
    return _caller(process_owner(), door)


def _caller(
    principal: Principal,
    door: Door,
    *,
    context: str = DEFAULT_CONTEXT,
    client: str = "-",
    session_id: str | None = None,
) -> Caller:
    client = client[:MAX_CLIENT_LENGTH]
    connection = session_id or f"{principal.name}/{client}/{context}"
    return Caller(
        principal=principal.name,
        door=door,
        connection=connection,
        session=connection,
        context=context,
        client=client,
        user_id=principal.user_id,
        is_local=principal.is_local,
        projects=principal.projects,
    )

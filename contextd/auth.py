"""Identifies callers: one function per door turns a credential into a Caller."""

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, Self

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import OperationalError
from django.http import HttpRequest
from django.http.request import split_domain_port
from django.utils.module_loading import import_string

from contextd import guards, limits, outages
from contextd.callers import (
    ABSENT,
    DEFAULT_CONTEXT,
    Caller,
    CredentialLapsed,
    Door,
    Entry,
    Principal,
)
from contextd.errors import (
    ContextdError,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    Unavailable,
)
from contextd.signals import entry_refused

MAX_CLIENT_LENGTH = 100
# The same few addresses call repeatedly.
MAX_CACHED_ADDRESSES = 256
FORWARDING_HEADERS = {"forwarded", "via", "x-real-ip"}
HOW_TO_AUTHENTICATE = (
    "create one with `.venv/bin/python manage.py token create --user USER --name WHERE` "
    "and send it as `Authorization: Bearer TOKEN`"
)

ANONYMOUS = Principal(name="anonymous", is_local=True)


class Authenticate(Protocol):
    """Returns the owner of a token, or None if it is unknown. Raises CredentialLapsed."""

    def __call__(self, token: str) -> Principal | None: ...


class Enter(Protocol):
    """Returns what the named context, or the principal's default, grants the principal.

    Raises NotFound if the context does not exist, NotAllowed if the principal may not use it.
    """

    def __call__(self, principal: Principal, name: str | None) -> Entry: ...


@dataclass(frozen=True, slots=True)
class Admission:
    """A principal in the context it asked for."""

    principal: Principal
    entry: Entry
    is_from_this_machine: bool = False


@dataclass(frozen=True, slots=True)
class RequestIdentity:
    """What an HTTP request shows of its sender, and the context it asks for."""

    authorization: str | None
    peer: str
    host: str
    is_forwarded: bool
    context: str | None
    client: str

    @classmethod
    def of(cls, headers: Mapping[str, str], peer: str) -> Self:
        """Read the identity from `headers`, by lower-case name, and the peer's address."""
        return cls(
            authorization=headers.get("authorization"),
            peer=peer,
            host=headers.get("host", ""),
            is_forwarded=any(map(is_forwarding, headers)),
            context=headers.get("x-mcp-context"),
            client=headers.get("user-agent", ABSENT),
        )

    @classmethod
    def of_django(cls, request: HttpRequest) -> Self:
        headers = {name.lower(): value for name, value in request.headers.items()}
        return cls.of(headers, request.META.get("REMOTE_ADDR", ""))

    @property
    def is_from_this_machine(self) -> bool:
        return not self.is_forwarded and is_loopback_host(self.host) and is_loopback(self.peer)


def is_forwarding(header: str) -> bool:
    return header in FORWARDING_HEADERS or header.startswith("x-forwarded-")


@lru_cache(MAX_CACHED_ADDRESSES)
def is_loopback_host(host: str) -> bool:
    domain, _port = split_domain_port(host)
    return domain in settings.LOOPBACK_HOSTS


@lru_cache(MAX_CACHED_ADDRESSES)
def is_loopback(peer: str) -> bool:
    try:
        address = ipaddress.ip_address(peer)
    except ValueError:
        return False
    # A server that listens on `::` sees 127.0.0.1 as ::ffff:127.0.0.1.
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def bearer_token(identity: RequestIdentity) -> str | None:
    """Return the token; None for the anonymous caller on this machine. No database is needed."""
    if identity.authorization is None:
        if settings.CONTEXTD_ANONYMOUS and identity.is_from_this_machine:
            return None
        raise NotAuthenticated(f"a token is needed: {HOW_TO_AUTHENTICATE}")
    scheme, _, token = identity.authorization.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise NotAuthenticated(f"only bearer tokens are accepted: {HOW_TO_AUTHENTICATE}")
    return token.strip()


def admit(identity: RequestIdentity, *, door: Door) -> Admission:
    """Look up the token's owner, and what the requested context grants them."""
    principal = None
    try:
        principal = principal_of(bearer_token(identity))
        return _enter(principal, identity.context, identity.is_from_this_machine)
    except (NotAuthenticated, NotAllowed, NotFound) as error:
        known = error.principal if isinstance(error, CredentialLapsed) else principal
        if known is not None:
            _announce_refusal(error, known, identity.context, door, identity.client)
        raise


def principal_of(token: str | None) -> Principal:
    """Return the owner of the token; an invalid token is refused, never treated as absent."""
    if token is None:
        return ANONYMOUS
    authenticate: Authenticate = import_string(settings.CONTEXTD_AUTHENTICATE)
    with limits.deadline(limits.LOOKUP_SECONDS):
        principal = authenticate(token)
    if principal is None:
        raise NotAuthenticated(f"this token is unknown: {HOW_TO_AUTHENTICATE}")
    return principal


def enter(
    principal: Principal, context: str | None, *, door: Door, is_from_this_machine: bool = True
) -> Admission:
    """Admit a principal that the door has already identified."""
    try:
        return _enter(principal, context, is_from_this_machine)
    except (NotFound, NotAllowed) as error:
        _announce_refusal(error, principal, context, door, ABSENT)
        raise


def _enter(principal: Principal, context: str | None, is_from_this_machine: bool) -> Admission:
    look_up: Enter = import_string(settings.CONTEXTD_ENTER)
    try:
        with limits.deadline(limits.LOOKUP_SECONDS):
            entry = look_up(principal, context)
    except OperationalError as error:
        if principal.is_local and isinstance(outages.as_outage(error), Unavailable):
            entry = fallback_entry(context or DEFAULT_CONTEXT)
        else:
            raise
    return Admission(principal, entry, is_from_this_machine)


def fallback_entry(context: str) -> Entry:
    """Let the owner of this machine ask for the status while no context can be looked up."""
    return Entry(
        name=context,
        permission="read",
        tools=(guards.ALWAYS_AVAILABLE,),
        resources=(),
        prompts=(),
        projects=frozenset(),
        is_fallback=True,
    )


def _announce_refusal(
    error: ContextdError, principal: Principal, context: str | None, door: Door, client: str
) -> None:
    if not limits.may_record_refusal(principal.name):
        return
    entry_refused.send_robust(
        sender=Principal,
        principal=principal,
        context=context,
        door=door,
        client=client[:MAX_CLIENT_LENGTH],
        category=error.category,
    )


def process_owner() -> Principal:
    """Return the user that started this process, for doors that no one else can reach."""
    return Principal(name=f"local:{os.getuid()}", is_local=True)


def user_named(name: str) -> Principal:
    """Return the principal of that user. Raise NotFound unless an active one exists."""
    user = get_user_model().objects.filter(username=name, is_active=True).first()
    if user is None:
        raise NotFound(f"there is no active user named {name!r}", user=name)
    return _principal_of_user(user.pk)


def _principal_of_user(user_id: int) -> Principal:
    return Principal(name=f"user:{user_id}", user_id=user_id)


def caller_of_mcp(admission: Admission, *, client: str, session_id: str | None) -> Caller:
    return _caller(admission, "mcp", client=client, session_id=session_id)


def caller_of_django(request: HttpRequest, door: Door) -> Caller:
    identity = RequestIdentity.of_django(request)
    return _caller(admit(identity, door=door), door, client=identity.client)


def caller_of_login(request: HttpRequest, context: str, door: Door) -> Caller:
    """Return the logged-in user as caller in the context; those of the admin are curators."""
    if not request.user.is_authenticated:
        raise NotAuthenticated("log in first")
    principal = _principal_of_user(request.user.pk)
    is_from_here = RequestIdentity.of_django(request).is_from_this_machine
    admission = enter(principal, context, door=door, is_from_this_machine=is_from_here)
    return _caller(admission, door, is_curator=request.user.is_staff)


def caller_of_cli(user: str | None, context: str | None) -> Caller:
    """Return the user with that name, or the owner of the process, as caller."""
    principal = user_named(user) if user else process_owner()
    return _caller(enter(principal, context, door="cli"), "cli")


def local_caller(door: Door, *, is_curator: bool = False) -> Caller:
    """Return the owner of the process, in no context, for work that no caller asked for."""
    admission = Admission(process_owner(), Entry(), is_from_this_machine=True)
    return _caller(admission, door, is_curator=is_curator)


def _caller(
    admission: Admission,
    door: Door,
    *,
    client: str = ABSENT,
    session_id: str | None = None,
    is_curator: bool = False,
) -> Caller:
    principal, entry = admission.principal, admission.entry
    client = client[:MAX_CLIENT_LENGTH]
    return Caller(
        principal=principal.name,
        door=door,
        entry=entry,
        connection=session_id or f"{principal.name}/{client}/{entry.name}",
        client=client,
        user_id=principal.user_id,
        is_local=principal.is_local,
        is_from_this_machine=admission.is_from_this_machine,
        is_curator=is_curator,
    )

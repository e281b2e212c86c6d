"""Name what upstreams offer: `github:create_issue` here, `github__create_issue` for clients."""

import hashlib
import re

NAMESPACE = r"^[a-z0-9](?:[a-z0-9-]{0,22}[a-z0-9])?\Z"
"""Excludes underscores, so that the first two in a row always end a namespace."""

SEPARATOR = "__"
ADDRESS = "upstream://"
"""Prefix of the address of every upstream resource."""

MAX_SHOWN_CHARACTERS = 200
"""Characters of an address shown in an error."""

MAX_WIRE_CHARACTERS = 48
"""Characters of a tool name; stays below clients' limits with their server-name prefix."""

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_DIGEST_LENGTH = 8


def canonical(namespace: str, name: str) -> str:
    """Return the name used in the database, permissions, the audit log, REST and commands."""
    return f"{namespace}:{name}"


def parts_of_canonical(name: str) -> tuple[str, str]:
    """Return the namespace and the upstream's own name."""
    namespace, _, own = name.partition(":")
    return namespace, own


def address(namespace: str, uri: str) -> str:
    """Return our address for an upstream's resource or resource template."""
    return f"{ADDRESS}{namespace}/{uri}"


def parts_of_address(address: str) -> tuple[str, str]:
    """Return the namespace and the upstream's own address."""
    namespace, _, uri = address.removeprefix(ADDRESS).partition("/")
    return namespace, uri


def on_the_wire(namespace: str, tool: str) -> str:
    """Return the name for clients, many of which accept only letters, digits, `_` and `-`.

    If that changes the name, a digest of the canonical name keeps it unique.
    """
    safe = _UNSAFE.sub("_", tool)
    name = f"{namespace}{SEPARATOR}{safe}"
    if safe == tool and tool and len(name) <= MAX_WIRE_CHARACTERS:
        return name
    digest = hashlib.sha256(canonical(namespace, tool).encode()).hexdigest()[:_DIGEST_LENGTH]
    return f"{name[: MAX_WIRE_CHARACTERS - _DIGEST_LENGTH - 1]}_{digest}"

"""What an upstream offers by name: `github:create_issue` here, `github__create_issue` there."""

import hashlib
import re

NAMESPACE = r"^[a-z0-9](?:[a-z0-9-]{0,22}[a-z0-9])?\Z"
"""Without an underscore, so that the first two in a row always end it."""

SEPARATOR = "__"
ADDRESS = "upstream://"
"""What the addresses of all resources of upstreams begin with."""

LONGEST_SHOWN = 200
"""Of an address, in an error."""

LONGEST_ON_THE_WIRE = 48
"""With the name of our server before it, which clients add, it stays below their limits."""

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_DIGEST_LENGTH = 8


def canonical(namespace: str, name: str) -> str:
    """What it is called in the database, in permissions, the audit, REST and commands."""
    return f"{namespace}:{name}"


def address(namespace: str, uri: str) -> str:
    """Where a resource of an upstream, or a template of addresses, is found here."""
    return f"{ADDRESS}{namespace}/{uri}"


def parts_of_address(address: str) -> tuple[str, str]:
    """The namespace, and the address at the upstream."""
    namespace, _, uri = address.removeprefix(ADDRESS).partition("/")
    return namespace, uri


def on_the_wire(namespace: str, tool: str) -> str:
    """What clients are told, many of which take letters, digits, `_` and `-` only.

    Where that loses something, a digest of the canonical name keeps it apart from others.
    """
    safe = _UNSAFE.sub("_", tool)
    name = f"{namespace}{SEPARATOR}{safe}"
    if safe == tool and tool and len(name) <= LONGEST_ON_THE_WIRE:
        return name
    digest = hashlib.sha256(canonical(namespace, tool).encode()).hexdigest()[:_DIGEST_LENGTH]
    return f"{name[: LONGEST_ON_THE_WIRE - _DIGEST_LENGTH - 1]}_{digest}"

"""Upstream resources: `upstream://NAMESPACE/` followed by the upstream's own address."""

import re
from functools import partial
from urllib.parse import unquote

from contextd import resources
from contextd.callers import Caller
from contextd.conversations import Conversation
from contextd.errors import Invalid, NotAllowed
from contextd.resources import Listed, ReadResource, RelayedContents
from gateway import names, offering
from gateway.offering import Offer, OfferedResource

TEMPLATE = f"{names.ADDRESS}{{namespace}}/{{+uri}}"
_SEPARATOR = re.compile(r"[/\\?#]")
DOTS = (
    "uri must not contain . or .. between slashes, unless the upstream lists exactly this address "
    "and the context contains the whole upstream or names the address"
)
READ_TIMEOUT_SECONDS = 600
"""Seconds one read may take; the upstream's own limit is shorter."""


async def read(
    caller: Caller, request: ReadResource, conversation: Conversation
) -> RelayedContents:
    """Read a resource of another MCP server."""
    from gateway import client  # the SDK takes seconds to import; only reads need it

    ensure_contained(caller, request.uri)
    offer = await conversation.do(partial(readable, request.uri))
    return await client.read(offer, caller.principal, conversation)


def ensure_contained(caller: Caller, uri: str) -> None:
    """Raise Invalid or NotAllowed for an address that is outside of the caller's context."""
    if has_dots(uri) and not is_exactly_contained(caller, uri):
        raise Invalid(DOTS, field="uri")
    resources.check(caller, [TEMPLATE], uri)
    resources.check(caller, [TEMPLATE, uri])  # a query may name something else there


def has_dots(uri: str) -> bool:
    """Return whether `.` or `..` could lead an address past the globs of a context.

    They count in any encoding, since it is unknown how often the upstream decodes them.
    """
    decoded = uri
    while (once_more := unquote(decoded)) != decoded:
        decoded = once_more
    return not {".", ".."}.isdisjoint(_SEPARATOR.split(decoded))


def is_exactly_contained(caller: Caller, uri: str) -> bool:
    """Return whether the context has the whole upstream, or the address itself without a glob."""
    return uri in caller.entry.resources or caller.entry.has_resource(TEMPLATE, name_of(uri))


def readable(uri: str) -> Offer:
    """Return the offer to read the address with. Raise Invalid or NotFound."""
    if has_dots(uri) and not offering.is_listed(uri):
        raise Invalid(DOTS, field="uri")
    return offering.readable(uri)


def is_readable(caller: Caller, uri: str) -> bool:
    try:
        ensure_contained(caller, uri)
    except (Invalid, NotAllowed):
        return False
    return True


def listed(caller: Caller, *, offset: int, limit: int) -> list[Listed]:
    found = offering.offered_resources(offset=offset, limit=limit)
    return [as_listed(one) for one in found]


def templates(caller: Caller) -> list[Listed]:
    return [as_listed(one) for one in offering.offered_templates()]


def as_listed(offered: OfferedResource) -> Listed:
    definition = offered.definition
    return Listed(
        uri=offered.address,
        name=definition.get("name"),
        title=definition.get("title") or definition.get("name") or offered.address,
        description=definition.get("description"),
        mime_type=definition.get("mimeType"),
    )


def name_of(uri: str) -> str:
    """Return the name of a read in the audit log and rate limits; it includes the upstream."""
    namespace, _ = names.parts_of_address(uri)
    return names.address(namespace, "{+uri}")


resources.relay(
    TEMPLATE,
    title="Resource of another MCP server",
    read=read,
    name_of=name_of,
    listed=listed,
    is_readable=is_readable,
    templates=templates,
    timeout=READ_TIMEOUT_SECONDS,
)

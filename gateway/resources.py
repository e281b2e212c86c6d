"""Upstream resources: `upstream://NAMESPACE/` followed by the upstream's own address."""

import re
from functools import partial
from urllib.parse import unquote

from contextd import resources
from contextd.callers import Caller
from contextd.conversations import Conversation
from contextd.errors import Invalid
from contextd.resources import Listed, ReadResource, RelayedContents
from gateway import names, offering
from gateway.offering import OfferedResource

TEMPLATE = f"{names.ADDRESS}{{namespace}}/{{+uri}}"
_SEPARATOR = re.compile(r"[/\\?#]")
READ_TIMEOUT_SECONDS = 600
"""Seconds one read may take; the upstream's own limit is shorter."""


async def read(
    caller: Caller, request: ReadResource, conversation: Conversation
) -> RelayedContents:
    """Read a resource of another MCP server."""
    from gateway import client  # the SDK takes seconds to import; only reads need it

    ensure_plain(request.uri)
    resources.check(caller, [TEMPLATE], request.uri)
    resources.check(caller, [TEMPLATE, request.uri])  # a query may name something else there
    offer = await conversation.do(partial(offering.readable, request.uri))
    return await client.read(offer, caller.principal, conversation)


def ensure_plain(uri: str) -> None:
    """Raise Invalid for `.` and `..` in an address, which would lead past the globs of a context.

    They count in any encoding, since it is unknown how often the upstream decodes them.
    """
    decoded = uri
    while (once_more := unquote(decoded)) != decoded:
        decoded = once_more
    if {".", ".."} & set(_SEPARATOR.split(decoded)):
        raise Invalid("uri must not contain . or .. between slashes", field="uri")


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
    templates=templates,
    timeout=READ_TIMEOUT_SECONDS,
)

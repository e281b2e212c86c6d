"""The resources of upstreams: `upstream://NAMESPACE/` and then the address that they have there."""

from functools import partial

from contextd import resources
from contextd.callers import Caller
from contextd.conversations import Conversation
from contextd.resources import Listed, ReadResource, RelayedContents
from gateway import names, offering
from gateway.offering import OfferedResource

TEMPLATE = f"{names.ADDRESS}{{namespace}}/{{+uri}}"
SECONDS = 600
"""Its upstream has a limit of its own, which is shorter."""


async def read(
    caller: Caller, request: ReadResource, conversation: Conversation
) -> RelayedContents:
    """What another MCP server has at an address."""
    from gateway import link  # the SDK takes seconds to import, for who reads only

    resources.check(caller, TEMPLATE, request.uri)
    offer = await conversation.do(partial(offering.readable, request.uri))
    return await link.read(offer, caller.principal, conversation)


def listed(caller: Caller, *, offset: int, limit: int) -> list[Listed]:
    found = offering.offered_resources(offset=offset, limit=limit)
    return [as_listed(one) for one in found]


def templates(caller: Caller) -> list[Listed]:
    return [as_listed(one) for one in offering.offered_templates()]


def as_listed(offered: OfferedResource) -> Listed:
    told = offered.definition
    return Listed(
        uri=offered.address,
        name=told.get("name"),
        title=told.get("title") or told.get("name") or offered.address,
        description=told.get("description"),
        mime_type=told.get("mimeType"),
    )


def name_of(uri: str) -> str:
    """What reading it is called in the audit, and by rates: it tells the upstream."""
    namespace, _ = names.parts_of_address(uri)
    return names.address(namespace, "{+uri}")


resources.relay(
    TEMPLATE,
    title="Of another MCP server",
    read=read,
    name_of=name_of,
    listed=listed,
    templates=templates,
    timeout=SECONDS,
)

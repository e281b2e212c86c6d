"""The tools of upstreams, as operations that exist at run time."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from contextd.callers import Caller
from contextd.conversations import Conversation
from contextd.operations import AnyArguments, Operation, Provided, Relayed
from gateway import services
from gateway.services import Offer


class UpstreamTools:
    """Offers what the upstreams listed last, whatever they are doing now."""

    def all(self) -> list[Provided]:
        return [as_operation(offer) for offer in services.offered()]

    def find(self, name: str) -> Provided | None:
        offer = services.find_offer(name)
        return as_operation(offer) if offer else None


def as_operation(offer: Offer) -> Provided:
    return Provided(
        name=offer.wire_name,
        canonical=offer.canonical,
        definition=offer.definition,
        handler=partial(relay, offer),
        request=AnyArguments,
        result=Relayed,
        # What an upstream says of its own tools is no reason to let readers call them.
        effect="write",
        is_redacted=offer.redacts_arguments,
        timeout=offer.seconds,
        rate=Operation.DEFAULT_RATE,
        atomic=False,
    )


async def relay(
    offer: Offer, caller: Caller, request: AnyArguments, conversation: Conversation
) -> Relayed:
    from gateway import link  # the SDK takes seconds to import, for who calls only

    arguments: Mapping[str, Any] = request.model_dump(mode="json", exclude_unset=True)
    return await link.call(offer, arguments, caller.principal, conversation.report)

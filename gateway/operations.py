"""The tools of upstreams, as operations that exist at run time."""

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import DatabaseError

from contextd.callers import Caller
from contextd.conversations import Conversation
from contextd.operations import AnyArguments, Operation, Provided, Relayed
from gateway import services
from gateway.services import Offer

logger = logging.getLogger(__name__)


class UpstreamTools:
    """Offers what the upstreams listed last, whatever they are doing now.

    It is read anew when the database says that it has changed; when that does not answer, what was
    read before is offered.
    """

    def __init__(self) -> None:
        self._edition = ""
        self._tools: dict[str, Provided] = {}

    def all(self) -> list[Provided]:
        return [tool for name, tool in self._current().items() if name == tool.name]

    def find(self, name: str) -> Provided | None:
        # No other name is one of ours, so nothing need be asked.
        return self._current().get(name) if ":" in name or "__" in name else None

    def _current(self) -> dict[str, Provided]:
        """By both names."""
        try:
            edition = services.edition()
            if edition != self._edition:
                tools = [as_operation(offer) for offer in services.offered()]
                self._tools = {name: one for one in tools for name in (one.name, one.canonical)}
                self._edition = edition
        except DatabaseError:
            logger.warning("tools of upstreams may be old: the database does not answer")
        return self._tools


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

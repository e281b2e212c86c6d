"""Provide the tools and prompts of upstreams as operations at run time."""

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django.db import DatabaseError

from contextd.callers import Caller
from contextd.conversations import Conversation
from contextd.operations import AnyArguments, Operation, Provided, RelayedToolResult
from contextd.prompts import GivenArguments, RelayedPrompt
from gateway import names, offering
from gateway.freshness import Freshness
from gateway.offering import Offer

PERSON_SECONDS = 300
"""Seconds for the caller's replies to questions; the gateway limits the upstream's own time."""

logger = logging.getLogger(__name__)


class Offered:
    """The features the upstreams listed last, whatever their state now.

    They are read again when the database has changed; while it does not answer, the last known
    ones are offered.
    """

    def __init__(
        self, read: Callable[[], list[Offer]], as_operation: Callable[[Offer], Provided]
    ) -> None:
        self._read, self._as_operation = read, as_operation
        self._edition = ""
        self._known: dict[str, Provided] = {}
        self._freshness = Freshness()

    def all(self) -> list[Provided]:
        return [one for name, one in self._current().items() if name == one.name]

    def find(self, name: str) -> Provided | None:
        # Names without a separator belong to no upstream; skip the query.
        return self._current().get(name) if ":" in name or names.SEPARATOR in name else None

    def at_hand(self, name: str) -> Provided | None:
        """Return the feature as last read, if that was a moment ago and no change was announced."""
        return self._known.get(name) if self._freshness.lasts else None

    def _current(self) -> dict[str, Provided]:
        """Return the operations by wire name and canonical name."""
        began = self._freshness.now()
        try:
            edition = offering.edition()
            if edition != self._edition:
                offered = [self._as_operation(offer) for offer in self._read()]
                self._known = {name: one for one in offered for name in (one.name, one.canonical)}
                self._edition = edition
            if self._freshness.is_undisturbed(began):
                self._freshness.begin(began)
        except DatabaseError:
            logger.warning("what upstreams offer may be outdated: the database does not answer")
        return self._known


def as_tool(offer: Offer) -> Provided:
    return Provided(
        name=offer.wire_name,
        canonical=offer.canonical,
        definition=offer.definition,
        handler=partial(call, offer),
        request=AnyArguments,
        result=RelayedToolResult,
        # An upstream's own annotations do not entitle readers to call its tools.
        effect="write",
        is_redacted=offer.redacts_arguments,
        timeout=offer.seconds + PERSON_SECONDS,
        rate=Operation.DEFAULT_RATE,
        atomic=False,
    )


def as_prompt(offer: Offer) -> Provided:
    return Provided(
        name=offer.wire_name,
        canonical=offer.canonical,
        definition=offer.definition,
        handler=partial(get_prompt, offer),
        request=GivenArguments,
        result=RelayedPrompt,
        effect="read",
        is_redacted=offer.redacts_arguments,
        timeout=offer.seconds,
        rate=Operation.DEFAULT_RATE,
        atomic=False,
        kind="prompt",
    )


async def call(
    offer: Offer, caller: Caller, request: AnyArguments, conversation: Conversation
) -> RelayedToolResult:
    from gateway import client  # the SDK takes seconds to import; only calls need it

    arguments: Mapping[str, Any] = request.model_dump(mode="json", exclude_unset=True)
    return await client.call(offer, arguments, caller.principal, conversation)


async def get_prompt(
    offer: Offer, caller: Caller, request: GivenArguments, conversation: Conversation
) -> RelayedPrompt:
    from gateway import client

    return await client.get_prompt(offer, request.arguments, caller.principal, conversation)


tools = Offered(offering.offered, as_tool)
prompts = Offered(offering.offered_prompts, as_prompt)

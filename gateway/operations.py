"""The tools and prompts of upstreams, as operations that exist at run time."""

import logging
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django.db import DatabaseError

from contextd import changes
from contextd.bus import Change
from contextd.callers import Caller
from contextd.conversations import Conversation
from contextd.operations import AnyArguments, Operation, Provided, RelayedToolResult
from contextd.prompts import GivenArguments, RelayedPrompt
from gateway import names, offering
from gateway.offering import Offer

SURE_SECONDS = 1.0
"""How long a change counts late that was not told, such as one by hand in the database."""

PERSON_SECONDS = 300
"""The caller may be asked something meanwhile; what the upstream may take, the gateway limits."""

logger = logging.getLogger(__name__)


class Offered:
    """What the upstreams listed last, whatever they are doing now.

    It is read anew when the database says that it has changed; when that does not answer, what was
    read before is offered.
    """

    def __init__(
        self, read: Callable[[], list[Offer]], as_operation: Callable[[Offer], Provided]
    ) -> None:
        self._read, self._as_operation = read, as_operation
        self._edition = ""
        self._known: dict[str, Provided] = {}
        self._sure_until, self._heard = 0.0, 0
        changes.subscribe(self._hear)

    def all(self) -> list[Provided]:
        return [one for name, one in self._current().items() if name == one.name]

    def find(self, name: str) -> Provided | None:
        # No other name is one of ours, so nothing need be asked.
        return self._current().get(name) if ":" in name or names.SEPARATOR in name else None

    def at_hand(self, name: str) -> Provided | None:
        """As it was when the database was asked a moment ago, if no change was told since."""
        return self._known.get(name) if time.monotonic() < self._sure_until else None

    def _hear(self, told: changes.Announcement) -> None:
        if isinstance(told, Change):
            self._heard += 1
            self._sure_until = 0.0

    def _current(self) -> dict[str, Provided]:
        """By both names."""
        heard, now = self._heard, time.monotonic()
        try:
            edition = offering.edition()
            if edition != self._edition:
                offered = [self._as_operation(offer) for offer in self._read()]
                self._known = {name: one for one in offered for name in (one.name, one.canonical)}
                self._edition = edition
            if heard == self._heard:
                self._sure_until = now + SURE_SECONDS
        except DatabaseError:
            logger.warning("what upstreams offer may be old: the database does not answer")
        return self._known


def as_tool(offer: Offer) -> Provided:
    return Provided(
        name=offer.wire_name,
        canonical=offer.canonical,
        definition=offer.definition,
        handler=partial(call, offer),
        request=AnyArguments,
        result=RelayedToolResult,
        # What an upstream says of its own tools is no reason to let readers call them.
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
        handler=partial(say, offer),
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
    from gateway import link  # the SDK takes seconds to import, for who calls only

    arguments: Mapping[str, Any] = request.model_dump(mode="json", exclude_unset=True)
    return await link.call(offer, arguments, caller.principal, conversation)


async def say(
    offer: Offer, caller: Caller, request: GivenArguments, conversation: Conversation
) -> RelayedPrompt:
    from gateway import link

    return await link.say(offer, request.arguments, caller.principal, conversation)


tools = Offered(offering.offered, as_tool)
prompts = Offered(offering.offered_prompts, as_prompt)

"""Connect processes that serve clients to the one that runs upstreams: MCP on a socket.

When the connection ends, its calls fail; none is repeated.
"""

import asyncio
from collections.abc import Collection, Mapping
from contextvars import Context
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from contextd.conversations import Conversation, Foreign
from contextd.errors import (
    Busy,
    ContextdError,
    Declined,
    Invalid,
    TimedOut,
    Unsupported,
    UpstreamFailed,
)
from contextd.operations import RelayedToolResult
from contextd.prompts import RelayedPrompt
from contextd.resources import RelayedContents
from gateway import answers, names, offering, place, rpc, services
from gateway.offering import Offer
from gateway.rpc import Params, Report

CONNECT_SECONDS = 5
UNSENT = "the gateway is restarting; nothing was sent, so the call can be made again"
GONE = "the gateway ended during the call; it is unknown whether the upstream acted on it"
LATE = "the gateway did not answer in time; it is unknown whether the upstream acted on it"

_KNOWN: dict[str, type[ContextdError]] = {"timeout": TimedOut, "busy": Busy, "validation": Invalid}


async def call(
    offer: Offer, arguments: Mapping[str, Any], principal: str, conversation: Conversation
) -> RelayedToolResult:
    """Call the tool on behalf of the principal. Raises UpstreamFailed, TimedOut or Busy."""
    params = {"name": offer.canonical, "arguments": dict(arguments)}
    result = await exchange(offer, "tools/call", params, principal, conversation)
    if result.get("isError"):
        raise await asyncio.to_thread(answers.failure, offer.canonical, result)
    if answers.is_large(result.get("structuredContent")):
        return await asyncio.to_thread(answers.success, offer, result)
    return answers.success(offer, result)


async def get_prompt(
    offer: Offer, arguments: Mapping[str, str], principal: str, conversation: Conversation
) -> RelayedPrompt:
    """Return the prompt rendered with the arguments. Raises as `call` does."""
    params = {"name": offer.canonical, "arguments": dict(arguments)}
    return answers.prompt(
        offer, await exchange(offer, "prompts/get", params, principal, conversation)
    )


async def read(offer: Offer, principal: str, conversation: Conversation) -> RelayedContents:
    """Return the contents of the resource. Raises as `call` does."""
    params = {"uri": names.address(offer.namespace, offer.name)}
    result = await exchange(offer, "resources/read", params, principal, conversation)
    return answers.contents(offer, result)


async def exchange(
    offer: Offer,
    method: str,
    params: Mapping[str, Any],
    principal: str,
    conversation: Conversation,
) -> dict[str, Any]:
    """Return the raw result; relay the upstream's questions to the caller in the meantime."""
    found = {theirs: conversation.header(ours) for theirs, ours in offer.headers.items()}
    headers = {theirs: value for theirs, value in found.items() if value is not None}
    caller = {rpc.CALLER: {"principal": principal, "headers": headers}}
    retry: Params = {"requestState": state} if (state := state_in(conversation.replied)) else {}
    while True:
        asked = {**params, "_meta": caller, **retry}
        result = await request(method, asked, offer.seconds, conversation.report)
        if result.pop("resultType") != rpc.INPUT_REQUIRED:
            return result
        retry = {"requestState": result["requestState"]}
        retry |= await reply_to(result["inputRequests"], {**retry, "_meta": caller}, conversation)


def state_in(replied: Collection[str]) -> str:
    """Return the request state of the latest questions, which begins their keys."""
    latest = next(reversed(list(replied)), "")
    return latest.partition(".")[0]


async def reply_to(
    questions: Mapping[str, Any], open_call: Params, conversation: Conversation
) -> Params:
    """Return the caller's replies, or the reason for having none."""
    put = {key: Foreign(one["method"], one.get("params") or {}) for key, one in questions.items()}
    try:
        return {"inputResponses": dict(await conversation.pass_on(put))}
    except (Unsupported, Declined) as refusal:
        return {"_meta": {**open_call["_meta"], rpc.REFUSAL: refusal.message}}
    except asyncio.CancelledError:
        # Also when the call is cancelled, which must not stop this.
        dropping = asyncio.create_task(request("contextd/drop", open_call, CONNECT_SECONDS))
        await asyncio.shield(dropping)
        raise


async def request(
    method: str, params: Params, seconds: float, report: Report | None = None
) -> dict[str, Any]:
    """Send one request to the gateway. Raises UpstreamFailed, TimedOut, Busy or Invalid."""
    client = await SharedConnection.of_this_loop().open()
    try:
        return await client.request(method, params, seconds, report)
    except rpc.Failed as failed:
        raise await as_contextd_error(failed) from None
    except rpc.Unsent:
        raise UpstreamFailed(UNSENT) from None
    except rpc.Closed:
        raise UpstreamFailed(GONE) from None
    except TimeoutError:
        raise TimedOut(LATE) from None


class SharedConnection:
    """The connection that all calls of an event loop share; replaced when it ends."""

    _of_loops: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, "SharedConnection"]] = (
        WeakKeyDictionary()
    )

    def __init__(self) -> None:
        # A new context, since the connection outlives the call that opened it.
        self._opening = asyncio.create_task(connect(), context=Context())

    @classmethod
    def of_this_loop(cls) -> "SharedConnection":
        loop = asyncio.get_running_loop()
        connection = cls._of_loops.get(loop)
        if connection is None or connection.has_ended:
            connection = cls._of_loops[loop] = cls()
        return connection

    @property
    def has_ended(self) -> bool:
        opening = self._opening
        return opening.done() and (opening.exception() is not None or opening.result().has_ended)

    async def open(self) -> rpc.Client:
        return await asyncio.shield(self._opening)


async def connect() -> rpc.Client:
    """Raises UpstreamFailed."""
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            return rpc.Client(*await place.reach())
    except place.NotAdmitted as error:
        raise UpstreamFailed(str(error)) from None
    except (OSError, ValueError, TimeoutError):
        raise UpstreamFailed(f"{place.not_running()}, so no upstream can be called") from None


async def as_contextd_error(failed: rpc.Failed) -> ContextdError:
    category = _KNOWN.get(failed.category, UpstreamFailed)
    if failed.cause is None:
        return category(failed.message)
    await asyncio.to_thread(answers.log_failure, failed.message, failed.cause)
    return category(failed.message, cause=failed.cause)


def control(action: str, namespace: str) -> str:
    """Have the gateway `restart` or `refresh` an upstream; return its new state.

    Meant for commands and pages, which have no event loop.
    """
    seconds = offering.seconds_of_start(services.get_upstream(namespace))
    asked = request(f"contextd/{action}", {"namespace": namespace}, seconds)
    return str(asyncio.run(asked)["state"])

"""Relay questions of other MCP servers to clients that declare support for them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mcp import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp.types import (
    ClientCapabilities,
    CreateMessageRequest,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitRequest,
    ElicitResult,
)
from pydantic import BaseModel, TypeAdapter, ValidationError

from contextd.conversations import Ability, Foreign
from contextd.errors import Declined, Unsupported
from contextd.mcp.tools import Context

Request = ElicitRequest | CreateMessageRequest

_requests: TypeAdapter[Request] = TypeAdapter(Request)


async def put(ctx: Context, question: Foreign) -> dict[str, Any]:
    """Return the client's reply unchanged. Raise Unsupported or Declined."""
    require(ctx, question)
    request = as_request(question)
    metadata = ServerMessageMetadata(related_request_id=ctx.request_id)
    with expecting_reply():
        reply = await ctx.session.send_request(request, reply_to(request), metadata=metadata)
    return reply.model_dump(mode="json", by_alias=True, exclude_none=True)


@contextmanager
def expecting_reply() -> Iterator[None]:
    """Raise Declined if the client answers with an error, not at all, or with no valid reply."""
    try:
        yield
    except MCPError as error:
        raise Declined(f"the client does not answer: {error.error.message}") from None
    except ValidationError:
        raise Declined("the client does not answer: its reply is malformed") from None


def reply_to(request: Request) -> type[BaseModel]:
    if isinstance(request, ElicitRequest):
        return ElicitResult
    return CreateMessageResultWithTools if request.params.tools else CreateMessageResult


def require(ctx: Context, question: Foreign) -> None:
    """Raise Unsupported unless the client declares support for such questions."""
    check(ctx.session.client_capabilities or ClientCapabilities(), question)


def check(offered: ClientCapabilities, question: Foreign) -> None:
    """Raise Unsupported unless the capabilities include such questions."""
    is_for_model = question.method == "sampling/createMessage"
    answers = answers_for_model if is_for_model else answers_for_person
    if not answers(offered, question):
        ability: Ability = "model" if is_for_model else "questions"
        raise Unsupported(f"your client does not answer {question.method}", ability=ability)


def answers_for_model(offered: ClientCapabilities, question: Foreign) -> bool:
    if offered.sampling is None:
        return False
    return not question.params.get("tools") or offered.sampling.tools is not None


def answers_for_person(offered: ClientCapabilities, question: Foreign) -> bool:
    if offered.elicitation is None:
        return False
    return question.params.get("mode") != "url" or offered.elicitation.url is not None


def as_request(question: Foreign) -> Request:
    """Return the question as an MCP request. Raise Unsupported if MCP has no such question."""
    try:
        return _requests.validate_python({"method": question.method, "params": question.params})
    except ValidationError:
        raise Unsupported(
            f"the question is not a valid {question.method[:50]} request of MCP",
            ability="questions",
        ) from None

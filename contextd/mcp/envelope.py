"""Refuse requests whose headers or body cannot be those of a JSON-RPC message.

For 2026-07-28 the SDK checks the body itself; for earlier versions it would answer with the text of
its parser's exception.
"""

from typing import Any

from mcp.server.streamable_http import check_accept_headers
from mcp.types import JSONRPCMessage, JSONRPCNotification
from mcp.types.jsonrpc import jsonrpc_message_adapter
from pydantic import ValidationError
from pydantic_core import from_json
from starlette.requests import Request
from starlette.types import Message, Receive, Scope

from contextd.errors import Invalid
from contextd.gate import NotJson


class WrongContentType(Invalid):
    status = 415


class NotAcceptable(Invalid):
    status = 406


async def opened(scope: Scope, receive: Receive) -> Receive:
    """Check the headers of a POST and read its body; return a `receive` that replays it."""
    check_headers(scope)
    return unread(await read(receive), receive)


async def checked(receive: Receive) -> tuple[Receive, int]:
    """Refuse a body that is not a message; return a `receive` and the number of requests.

    A batch passes; its messages are checked later.
    """
    body = await read(receive)
    content = parsed(body)
    if isinstance(content, list):
        return unread(body, receive), sum(map(is_request, content))
    message_in(content)
    return unread(body, receive), int(is_request(content))


def is_request(content: Any) -> bool:
    """Return whether it expects an answer; notifications and replies have no id or no method."""
    return isinstance(content, dict) and "id" in content and "method" in content


def check_headers(scope: Scope) -> None:
    request = Request(scope)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise WrongContentType("the body must be sent as application/json", field="content-type")
    if not all(check_accept_headers(request)):
        raise NotAcceptable(
            "the answer may be application/json or text/event-stream; accept both", field="accept"
        )


def unread(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that yields an already read body again."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again


async def read(receive: Receive) -> bytes:
    chunks: list[bytes] = []
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Invalid("the connection ended before the body did", field="body")
        chunks.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(chunks)


def parsed(body: bytes) -> Any:
    try:
        return from_json(body)
    except ValueError:
        raise NotJson("the body is not JSON", field="body") from None


def check(body: bytes) -> None:
    message_in(parsed(body))


def message_in(content: Any) -> JSONRPCMessage:
    """Return the message that JSON content is. Raise Invalid if it is none."""
    try:
        message = jsonrpc_message_adapter.validate_python(content, by_name=False)
    except ValidationError:
        raise Invalid("this is not a JSON-RPC 2.0 message", field="body") from None
    # A request with a null or invalid id would otherwise pass for a notification.
    if isinstance(message, JSONRPCNotification) and "id" in content:
        raise Invalid("the id of a request must be a string or an integer", field="id")
    return message

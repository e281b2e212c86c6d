"""Refuses a body that is not one JSON-RPC message.

For 2026-07-28 the SDK does this itself; for the versions before, it would answer with the text
of its parser's exception.
"""

from mcp.types import JSONRPCNotification
from mcp.types.jsonrpc import jsonrpc_message_adapter
from pydantic import ValidationError
from pydantic_core import from_json
from starlette.types import Message, Receive

from contextd.errors import Invalid
from contextd.gate import NotJson


async def checked(receive: Receive) -> Receive:
    """Read the body and look at it; what is returned gives it to the next reader."""
    body = await read(receive)
    check(body)
    return unread(body, receive)


def unread(body: bytes, receive: Receive) -> Receive:
    """Gives a body that was read to the next reader."""
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


def check(body: bytes) -> None:
    try:
        content = from_json(body)
    except ValueError:
        raise NotJson("the body is not JSON", field="body") from None
    try:
        message = jsonrpc_message_adapter.validate_python(content, by_name=False)
    except ValidationError:
        raise Invalid("the body is not one JSON-RPC 2.0 message", field="body") from None
    # A request whose id is null or no id at all would else pass for a notification.
    if isinstance(message, JSONRPCNotification) and "id" in content:
        raise Invalid("the id of a request must be a string or an integer", field="id")

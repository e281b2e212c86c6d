"""A request straight to an ASGI application, to see each message of the answer as it is sent."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from starlette.types import ASGIApp, Message, Scope

OnMessage = Callable[[Message], Awaitable[None]]


async def get(app: ASGIApp, path: str, on_message: OnMessage, **headers: str) -> None:
    """GET the path and give each message of the answer to `on_message`."""
    await _send(app, "GET", path, b"", on_message, headers)


async def post(app: ASGIApp, path: str, body: bytes, on_message: OnMessage) -> None:
    """As `get`, with JSON that is posted."""
    await _send(app, "POST", path, body, on_message, {"content-type": "application/json"})


async def _send(
    app: ASGIApp,
    method: str,
    path: str,
    body: bytes,
    on_message: OnMessage,
    headers: Mapping[str, str],
) -> None:
    async def receive() -> Message:
        if received:
            await asyncio.Event().wait()
        received.append(path)
        return {"type": "http.request", "body": body, "more_body": False}

    received: list[str] = []
    path, _, query = path.partition("?")
    scope: Scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "query_string": query.encode(),
        "headers": [
            (b"host", b"localhost"),
            *((k.encode(), v.encode()) for k, v in headers.items()),
        ],
        "client": ("127.0.0.1", 5000),
        "server": ("127.0.0.1", 8080),
    }
    await app(scope, receive, on_message)

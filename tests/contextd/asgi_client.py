"""A request straight to an ASGI application, to see each message of the answer as it is sent."""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Message, Scope


async def get(
    app: ASGIApp, path: str, on_message: Callable[[Message], Awaitable[None]], **headers: str
) -> None:
    """GET the path and give each message of the answer to `on_message`."""

    async def receive() -> Message:
        if received:
            await asyncio.Event().wait()
        received.append(path)
        return {"type": "http.request", "body": b"", "more_body": False}

    received: list[str] = []
    path, _, query = path.partition("?")
    scope: Scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
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

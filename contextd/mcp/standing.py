"""Streams that stay open for what may come: they end when their sender is not let in any more."""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contextd.errors import NotAuthenticated

DISCONNECT: Message = {"type": "http.disconnect"}
END: Message = {"type": "http.response.body", "body": b"", "more_body": False}


def is_standing(scope: Scope) -> bool:
    """Whether the answer is such a stream: a GET, or that of a client of 2026-07-28."""
    listens = (b"mcp-method", b"subscriptions/listen")
    return scope["method"] == "GET" or listens in scope["headers"]


async def serve(
    application: ASGIApp,
    lapse: Callable[[], Awaitable[None]],
    scope: Scope,
    receive: Receive,
    send: Send,
) -> None:
    """When `lapse` returns, the client is taken to be gone, and is told the end."""
    told: asyncio.Queue[Message] = asyncio.Queue()
    answer = Answer(send)

    async def pass_on() -> None:
        message: Message = {}
        while message != DISCONNECT:
            message = await receive()
            told.put_nowait(message)

    async def end() -> None:
        await lapse()
        told.put_nowait(DISCONNECT)

    beside = [asyncio.create_task(pass_on()), asyncio.create_task(end())]
    try:
        await application(scope, told.get, answer.send)
    finally:
        for task in beside:
            task.cancel()
    await answer.end()


class Answer:
    """What was sent of it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._has_begun = self._has_ended = False

    async def send(self, message: Message) -> None:
        self._has_begun = True
        is_body = message["type"] == END["type"]
        self._has_ended = is_body and not message.get("more_body", False)
        await self._send(message)

    async def end(self) -> None:
        """A client that was let go waits for nothing more."""
        if not self._has_begun:
            raise NotAuthenticated("you are not let in any more")
        if not self._has_ended:
            await self._send(END)

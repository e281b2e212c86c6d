"""Long-lived streams: each ends when its sender loses access or the server stops."""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contextd.errors import ContextdError, Invalid, NotAuthenticated, Unavailable
from contextd.signals import serving_ends

DISCONNECT: Message = {"type": "http.disconnect"}
END: Message = {"type": "http.response.body", "body": b"", "more_body": False}


class OpenedAgain(Invalid):
    status = 409


def is_long_lived(scope: Scope) -> bool:
    """Return whether the answer is a long-lived stream: a GET, or a listener of 2026-07-28."""
    listens = (b"mcp-method", b"subscriptions/listen")
    return scope["method"] == "GET" or listens in scope["headers"]


async def serve(
    application: ASGIApp,
    lapse: Callable[[], Awaitable[None]],
    scope: Scope,
    receive: Receive,
    send: Send,
) -> None:
    """Serve a stream; end it as if the client had left when `lapse` returns or serving ends."""
    received: asyncio.Queue[Message] = asyncio.Queue()
    answer = Answer(send)
    reason: ContextdError = OpenedAgain("the stream of this session has been opened again")

    async def pass_on() -> None:
        message: Message = {}
        while message != DISCONNECT:
            message = await receive()
            received.put_nowait(message)

    async def end() -> None:
        nonlocal reason
        await lapse()
        reason = NotAuthenticated("you no longer have access")
        received.put_nowait(DISCONNECT)

    def stop(**_: object) -> None:
        nonlocal reason
        reason = Unavailable("the server is stopping; connect again later")
        received.put_nowait(DISCONNECT)

    beside = [asyncio.create_task(pass_on()), asyncio.create_task(end())]
    serving_ends.connect(stop, weak=False)
    try:
        await application(scope, received.get, answer.send)
    finally:
        serving_ends.disconnect(stop)
        for task in beside:
            task.cancel()
    await answer.end(reason)


class Answer:
    """Forwards an answer and records whether it has begun and ended."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._has_begun = self._has_ended = False

    async def send(self, message: Message) -> None:
        self._has_begun = True
        is_body = message["type"] == END["type"]
        self._has_ended = is_body and not message.get("more_body", False)
        await self._send(message)

    async def end(self, reason: ContextdError) -> None:
        """End an answer that has begun, so that the client stops waiting; else raise the reason."""
        if not self._has_begun:
            raise reason
        if not self._has_ended:
            await self._send(END)

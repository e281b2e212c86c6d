"""JSON-RPC batches: several messages in one body, supported only by 2025-03-26."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from starlette.types import Message, Receive, Scope, Send

from contextd import gate
from contextd.errors import ContextdError, Invalid
from contextd.mcp import envelope

VERSION = "2025-03-26"
MAX_MESSAGES = 100
START: Message = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache")],
}

Take = Callable[[Any, Receive, Send], Awaitable[None]]
"""Serves one message as if it had been sent alone."""


def check(messages: list[Any], version: str) -> None:
    """Raise Invalid when the version has no batches, or the batch is empty or too large."""
    if version != VERSION:
        raise Invalid(f"this is a batch, which only {VERSION} supports", field="body")
    if not 1 <= len(messages) <= MAX_MESSAGES:
        raise Invalid(
            f"a batch has 1 to {MAX_MESSAGES} messages, and this has {len(messages)}", field="body"
        )


async def serve(
    messages: list[Any], take: Take, scope: Scope, receive: Receive, send: Send
) -> None:
    """Answer every message on one stream, each as soon as its answer is ready."""
    stream = BatchAnswer(send)
    async with anyio.create_task_group() as tasks:

        async def serve_them() -> None:
            async with anyio.create_task_group() as each:
                for message in messages:
                    each.start_soon(stream.answer, message, take)
            await stream.end()
            tasks.cancel_scope.cancel()

        tasks.start_soon(serve_them)
        while (await receive())["type"] != "http.disconnect":
            pass
        tasks.cancel_scope.cancel()


class BatchAnswer:
    """The single HTTP answer to a batch: the answers to its messages, or 202 if there are none."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._has_begun = False
        self._writing = anyio.Lock()

    async def answer(self, message: Any, take: Take) -> None:
        body = json.dumps(message).encode()
        try:
            envelope.check(body)
            await take(message, envelope.unread(body, never), MessageAnswer(self).send)
        except ContextdError as error:
            await self.write(as_event(json.dumps(gate.as_rpc(error)).encode()))

    async def write(self, events: bytes) -> None:
        async with self._writing:
            if not self._has_begun:
                self._has_begun = True
                await self._send(START)
            await self._send({"type": "http.response.body", "body": events, "more_body": True})

    async def end(self) -> None:
        if not self._has_begun:
            await self._send({"type": "http.response.start", "status": 202, "headers": []})
        await self._send({"type": "http.response.body", "body": b""})


class MessageAnswer:
    """The answer to one message of a batch: a stream, plain JSON or nothing."""

    def __init__(self, stream: BatchAnswer) -> None:
        self._stream = stream
        self._is_stream = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            kind = dict(message["headers"]).get(b"content-type", b"")
            self._is_stream = kind.startswith(b"text/event-stream")
        elif message.get("body"):
            body = message["body"]
            await self._stream.write(body if self._is_stream else as_event(body))


def as_event(content: bytes) -> bytes:
    return b"event: message\r\ndata: " + content + b"\r\n\r\n"


async def never() -> Message:
    await anyio.sleep_forever()
    raise AssertionError

"""Streams that stay open, and what ends them."""

from typing import Any

import anyio
import pytest

from contextd.errors import NotAuthenticated, Unavailable
from contextd.mcp import long_lived
from contextd.mcp.long_lived import OpenedAgain
from contextd.signals import serving_ends

pytestmark = pytest.mark.anyio

SCOPE: dict[str, Any] = {"type": "http", "method": "GET", "headers": []}
START = {"type": "http.response.start", "status": 200, "headers": []}


class Stream:
    """An application that streams until its client is gone."""

    def __init__(self, *, begins: bool = True) -> None:
        self.begins, self.sent = begins, list[Any]()
        self.is_open = anyio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self.begins:
            await send(START)
        self.is_open.set()
        while (await receive())["type"] != "http.disconnect":
            pass

    async def send(self, message: Any) -> None:
        self.sent.append(message)


async def serve(stream: Stream, lapse: Any) -> None:
    with anyio.fail_after(5):
        await long_lived.serve(stream, lapse, SCOPE, anyio.sleep_forever, stream.send)  # type: ignore[arg-type]


async def test_a_stream_ends_when_the_server_stops() -> None:
    stream = Stream()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve, stream, anyio.sleep_forever)
        await stream.is_open.wait()
        serving_ends.send(None)

    assert stream.sent == [START, long_lived.END]


async def test_a_stream_that_has_not_begun_says_that_the_server_stops() -> None:
    stream = Stream(begins=False)

    async def stop() -> None:
        await stream.is_open.wait()
        serving_ends.send(None)
        await anyio.sleep_forever()

    with pytest.raises(Unavailable, match="the server is stopping"):
        await serve(stream, stop)


async def test_a_stream_ends_when_its_sender_is_no_longer_admitted() -> None:
    async def lapse() -> None:
        return None

    with pytest.raises(NotAuthenticated):
        await serve(Stream(begins=False), lapse)


async def test_a_stream_that_another_one_replaces_before_it_begins_says_so() -> None:
    class Replaced(Stream):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            return None

    with pytest.raises(OpenedAgain):
        await serve(Replaced(), anyio.sleep_forever)

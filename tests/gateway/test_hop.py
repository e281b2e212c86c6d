"""Requests between processes of contextd."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from gateway import hop
from gateway.hop import Client, Params, Report

Use = Callable[[Client], Awaitable[Any]]


class Other:
    """The process at the other side."""

    def __init__(self) -> None:
        self.began, self.cancelled = asyncio.Event(), asyncio.Event()
        self.writers: list[asyncio.StreamWriter] = []
        self.handlers = {one.__name__: one for one in (self.echo, self.wait, self.fail, self.crash)}

    async def echo(self, params: Params, report: Report) -> dict[str, Any]:
        for done in range(params.get("steps", 0)):
            await report(done, None, "step")
        return params

    async def wait(self, params: Params, report: Report) -> dict[str, Any]:
        self.began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return {}

    async def fail(self, params: Params, report: Report) -> dict[str, Any]:
        raise hop.Failed("try again later", "busy", {"code": 7})

    async def crash(self, params: Params, report: Report) -> dict[str, Any]:
        raise KeyError("secret")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        await hop.serve(reader, writer, self.handlers)
        writer.close()


def together(folder: Path, use: Callable[[Client, Other], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        other, path = Other(), folder / "socket"
        async with await asyncio.start_unix_server(other.serve, path):
            client = Client(*await asyncio.open_unix_connection(path))
            found = await use(client, other)
            for writer in other.writers:
                writer.close()
            await asyncio.wait([client._receiving])
            return found

    return asyncio.run(asyncio.wait_for(run(), 20))


@pytest.mark.parametrize("value", ["\ud800", "\n", "é", 1.5, None, [{}], "x" * 200_000])
def test_what_is_asked_and_answered_may_be_anything(tmp_path: Path, value: object) -> None:
    async def use(client: Client, other: Other) -> Any:
        return await client.request("echo", {"value": value}, 10)

    assert together(tmp_path, use) == {"value": value}


def test_progress_comes_in_order_and_before_the_result(tmp_path: Path) -> None:
    reported = []

    async def report(done: float, total: float | None, message: str | None) -> None:
        reported.append((done, total, message))

    async def use(client: Client, other: Other) -> None:
        await client.request("echo", {"steps": 3}, 10, report)

    together(tmp_path, use)

    assert reported == [(0, None, "step"), (1, None, "step"), (2, None, "step")]


def test_a_failure_keeps_its_category_and_cause(tmp_path: Path) -> None:
    async def use(client: Client, other: Other) -> hop.Failed:
        with pytest.raises(hop.Failed) as failed:
            await client.request("fail", {}, 10)
        return failed.value

    failed = together(tmp_path, use)

    assert (failed.message, failed.category) == ("try again later", "busy")
    assert failed.cause == {"code": 7}


def test_an_unexpected_error_stays_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def use(client: Client, other: Other) -> Any:
        with pytest.raises(hop.Failed, match="the call failed inside the gateway; see its log"):
            await client.request("crash", {}, 10)
        return await client.request("echo", {}, 10)

    assert together(tmp_path, use) == {}
    assert "KeyError" in caplog.text


def test_the_end_of_the_other_side_is_told_from_what_was_never_sent(tmp_path: Path) -> None:
    async def use(client: Client, other: Other) -> None:
        waiting = asyncio.create_task(client.request("wait", {}, 10))
        await other.began.wait()
        other.writers[0].close()
        with pytest.raises(hop.Closed):
            await waiting
        with pytest.raises(hop.Unsent):
            await client.request("echo", {}, 10)

        await other.cancelled.wait()

    together(tmp_path, use)


def test_what_takes_too_long_is_cancelled_at_the_other_side(tmp_path: Path) -> None:
    async def use(client: Client, other: Other) -> None:
        with pytest.raises(TimeoutError):
            await client.request("wait", {}, 0.05)
        await other.cancelled.wait()

    together(tmp_path, use)


def test_a_caller_that_goes_away_cancels_its_request_alone(tmp_path: Path) -> None:
    async def use(client: Client, other: Other) -> Any:
        waiting = asyncio.create_task(client.request("wait", {}, 10))
        await other.began.wait()
        waiting.cancel()
        await other.cancelled.wait()
        return await client.request("echo", {"value": 1}, 10)

    assert together(tmp_path, use) == {"value": 1}


def test_what_is_too_long_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hop, "MAX_LINE_BYTES", 1000)

    async def use(client: Client, other: Other) -> Any:
        with pytest.raises(hop.Failed, match="bytes are more than the 1000 of one message"):
            await client.request("echo", {"value": "x" * 2000}, 10)
        return await client.request("echo", {"value": "x"}, 10)

    assert together(tmp_path, use) == {"value": "x"}

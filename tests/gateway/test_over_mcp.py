"""Upstreams as real MCP clients reach them: over HTTP, in both eras, through a web process."""

import asyncio
from typing import Any

import anyio
import pytest

from gateway.models import Isolation
from tests.clients import MODERN_VERSION, over_http, structure_of, text_of
from tests.gateway.conftest import Add
from tests.server import Server

VERSIONS = ["2025-11-25", MODERN_VERSION]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_client_lists_calls_and_hears_of_progress(server: Server, add: Add, version: str) -> None:
    add()
    heard: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total))

    async def use() -> tuple[list[str], Any, Any, Any]:
        async with over_http(server, version) as session:
            listed = await session.list_tools()
            added = await session.call_tool("odd__add", {"a": 1, "b": 2})
            failed = await session.call_tool("odd:fail", {"structured": {"detail": "no"}})
            done = await session.call_tool("odd__progress", {}, progress_callback=hear)
            return [tool.name for tool in listed.tools], added, failed, done

    listed, added, failed, done = asyncio.run(use())

    assert {"odd__add", "checkpoint_save"} <= set(listed)
    assert structure_of(added) == {"sum": 3}
    assert text_of(added) == "sum: 3\n"
    assert failed.is_error
    assert text_of(failed) == "[internal] odd:fail: no"
    assert failed.meta["contextd/cause"] == {"detail": "no"}
    assert text_of(done) == "done"
    assert heard == [(1, 2), (2, 2)]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_call_that_is_cancelled_is_cancelled_there(
    server: Server, add: Add, version: str
) -> None:
    add(isolation=Isolation.SHARED)

    async def use() -> int:
        async with over_http(server, version) as session:
            with anyio.move_on_after(1):
                await session.call_tool("odd__hang", {})
            with anyio.fail_after(20):
                while (told := int(text_of(await session.call_tool("odd__cancelled", {})))) == 0:
                    await anyio.sleep(0.1)
            return told

    assert asyncio.run(use()) == 1

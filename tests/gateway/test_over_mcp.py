"""Upstreams as real MCP clients reach them: over HTTP, in both eras, through a web process."""

import asyncio
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

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


@pytest.mark.parametrize(
    ("version", "structured"), [("2025-11-25", None), (MODERN_VERSION, [1, 2])]
)
def test_a_structured_result_that_is_no_object_is_text_where_the_version_has_no_other(
    server: Server, add: Add, version: str, structured: Any
) -> None:
    add()

    async def use() -> Any:
        async with over_http(server, version) as session:
            return await session.call_tool("odd__sequence", {})

    result = asyncio.run(use())

    assert not result.is_error
    assert text_of(result) == "- 1\n- 2\n"
    assert result.structured_content == structured


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


@pytest.mark.parametrize("era", ["legacy", MODERN_VERSION])
def test_a_client_hears_that_lists_of_an_upstream_changed(
    server: Server, add: Add, era: str
) -> None:
    add()
    heard: set[str] = set()

    async def note(message: Any) -> None:
        heard.add(type(message).__name__.removesuffix("Notification"))

    async def listen(client: Client) -> None:
        async with client.listen(
            tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
        ) as events:
            async for event in events:
                heard.add(type(event).__name__.replace("sListChanged", "ListChanged"))

    async def use() -> None:
        transport = streamable_http_client(f"{server.url}/mcp")
        async with (
            Client(transport, mode=era, message_handler=note) as client,
            anyio.create_task_group() as tasks,
        ):
            if era != "legacy":
                tasks.start_soon(listen, client)
            with anyio.fail_after(30):
                number = 0
                while not {"ToolListChanged", "PromptListChanged", "ResourceListChanged"} <= heard:
                    number += 1  # what is told before the client listens, it does not hear
                    for kind in ("tools", "prompts", "resources"):
                        await client.call_tool("odd__grow", {"tool": f"t{number}", "kind": kind})
                    await anyio.sleep(0.5)
            tasks.cancel_scope.cancel()

    asyncio.run(use())

    assert {"ToolListChanged", "PromptListChanged", "ResourceListChanged"} <= heard

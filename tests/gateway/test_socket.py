"""The gateway's socket, as the SDK's client uses it: MCP without a door of contextd between."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, types
from mcp.client.subscriptions import ToolsListChanged

from contextd import changes
from gateway import offering, place, rpc
from gateway.models import Isolation, Kind, Upstream, UpstreamFeature
from tests.clients import MODERN_VERSION, structure_of, text_of
from tests.gateway import streams
from tests.gateway.conftest import ECHO, Add
from tests.gateway.test_questions import MODERN, a_model, a_person


@asynccontextmanager
async def over_socket() -> AsyncIterator[tuple[Any, Any]]:
    reader, writer = await asyncio.open_unix_connection(place.socket_path(), limit=2**20)
    async with streams.connected(reader, writer) as both:
        yield both


def connected(**options: Any) -> Client:
    return Client(over_socket(), mode=MODERN_VERSION, **options)


def test_it_is_discovered_and_lists_what_the_upstreams_offer(add: Add) -> None:
    add()

    async def use() -> tuple[Any, ...]:
        async with Client(over_socket(), mode="auto") as client:
            return (
                (client.protocol_version, client.server_info, client.server_capabilities),
                [one.name for one in (await client.list_tools()).tools],
                [one.name for one in (await client.list_prompts()).prompts],
                [one.uri for one in (await client.list_resources()).resources],
                (await client.list_resource_templates()).resource_templates[0].uri_template,
            )

    (version, server, offers), tools, prompts, resources, template = asyncio.run(use())

    assert (version, server.name) == (MODERN_VERSION, "contextd-gateway")
    assert offers.tools.list_changed
    assert {"odd:echo", "odd:add"} <= set(tools)
    assert prompts == ["odd:greet"]
    assert "upstream://odd/demo://notes/1" in resources
    assert template == "upstream://odd/demo://notes/{number}"


def test_long_lists_have_pages(gateway: None, upstream: Upstream) -> None:
    offering.save_listing(upstream.pk, Kind.TOOL, [{**ECHO, "name": f"t{n}"} for n in range(501)])

    async def use() -> list[int]:
        async with connected() as client:
            first = await client.list_tools()
            second = await client.list_tools(cursor=first.next_cursor)
            return [len(page.tools) for page in (first, second)]

    assert asyncio.run(use()) == [500, 1]


def test_tools_prompts_and_resources_answer_under_their_canonical_names(add: Add) -> None:
    add()

    async def use() -> tuple[Any, ...]:
        async with connected() as client:
            return (
                await client.call_tool("odd:add", {"a": 1, "b": 2}),
                await client.get_prompt("odd:greet", {"who": "Ann"}),
                await client.read_resource("upstream://odd/demo://notes/1"),
            )

    added, greeted, read = asyncio.run(use())

    assert structure_of(added) == {"sum": 3}
    assert greeted.messages[0].content.text == "Say hello to Ann"
    assert read.contents[0].text == "what is at demo://notes/1"


def test_progress_is_reported(add: Add) -> None:
    add()
    heard = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total))

    async def use() -> str:
        async with connected() as client:
            return text_of(await client.call_tool("odd:progress", {}, progress_callback=hear))

    assert asyncio.run(use()) == "done"
    assert heard == [(1, 2), (2, 2)]


def test_a_call_that_is_cancelled_is_cancelled_there(add: Add) -> None:
    add(isolation=Isolation.SHARED)

    async def use() -> int:
        async with connected() as client:
            with anyio.move_on_after(0.5):
                await client.call_tool("odd:hang", {})
            with anyio.fail_after(20):
                while (told := int(text_of(await client.call_tool("odd:cancelled", {})))) == 0:
                    await anyio.sleep(0.1)
            return told

    assert asyncio.run(use()) == 1


def error_of(method: str, *given: Any, **options: Any) -> types.ErrorData:
    async def use() -> types.ErrorData:
        async with connected() as client:
            with pytest.raises(MCPError) as caught:
                await getattr(client, method)(*given, **options)
            return caught.value.error

    return asyncio.run(use())


def test_an_error_tells_what_the_upstream_said(add: Add) -> None:
    add()

    error = error_of("call_tool", "odd:refuse", {"data": {"reason": "sold out"}})

    assert (error.code, error.message) == (-32603, "odd:refuse: no such thing (code=-32602)")
    assert error.data["category"] == "internal"
    assert error.data["cause"]["data"] == {"reason": "sold out"}


@pytest.mark.parametrize(
    ("method", "given", "told"),
    [
        ("call_tool", ("odd:nothing", {}), "there is no tool 'odd:nothing'"),
        ("call_tool", ("nobody:echo", {}), "there is no tool 'nobody:echo'"),
        ("get_prompt", ("odd:nothing", {}), "there is no prompt 'odd:nothing'"),
        ("read_resource", ("upstream://nobody/demo://x",), "there is no resource at"),
    ],
)
def test_what_is_not_offered_is_not_called(
    add: Add, method: str, given: tuple[Any, ...], told: str
) -> None:
    add()

    error = error_of(method, *given)

    assert error.code == types.INVALID_PARAMS
    assert told in error.message


@pytest.mark.parametrize("options", [{}, {"meta": {rpc.CALLER: {}}}])
def test_a_tool_that_is_held_back_is_neither_listed_nor_called(
    add: Add, options: dict[str, Any]
) -> None:
    upstream = add()
    known = upstream.features.get(kind=Kind.TOOL, name="echo")
    known.approved = {}
    known.save()

    error = error_of("call_tool", "odd:echo", {}, **options)

    assert "odd:echo" not in [one["name"] for one in offering.listed(Kind.TOOL)]
    assert "there is no tool 'odd:echo'" in error.message


def test_what_was_called_a_moment_ago_is_not_called_after_a_change(add: Add) -> None:
    upstream = add()
    known = upstream.features.get(kind=Kind.TOOL, name="echo")

    async def use() -> None:
        async with connected() as client:
            await client.call_tool("odd:echo", {})
            await asyncio.to_thread(hold_back, known)
            with pytest.raises(MCPError, match="there is no tool 'odd:echo'"):
                await client.call_tool("odd:echo", {})

    asyncio.run(use())


def hold_back(feature: UpstreamFeature) -> None:
    feature.approved = {}
    feature.save()
    changes.announce("tools")


def test_a_question_is_answered_by_a_retry(add: Add) -> None:
    add("old")
    add("new", command=MODERN)

    async def use() -> list[Any]:
        async with connected(elicitation_callback=a_person, sampling_callback=a_model) as client:
            names = ["old:ask_person", "old:ask_model", "new:ask_person", "new:ask_model"]
            return [structure_of(await client.call_tool(name, {})) for name in names]

    old_person, old_model, new_person, new_model = asyncio.run(use())

    filled = {"action": "accept", "content": {"name": "Ann, asked Who are you?"}}
    assert old_person == filled
    assert new_person == {**filled, "state": "kept"}
    assert old_model["content"] == {"type": "text", "text": "yes"}
    assert new_model == {**old_model, "state": "kept"}


def test_a_client_that_does_not_say_that_it_answers_questions_is_asked_none(add: Add) -> None:
    add()

    async def use() -> Any:
        async with connected() as client:
            return structure_of(await client.call_tool("odd:ask_person", {}))

    told = asyncio.run(use())

    assert told["message"] == "your client does not answer elicitation/create"


def test_questions_stay_open_until_each_is_answered_and_only_for_the_same_call(add: Add) -> None:
    add()

    async def use() -> Any:
        async with connected(elicitation_callback=a_person) as client:
            call: Any = client.session.call_tool
            asked = await call("odd:ask_person", {}, allow_input_required=True)
            state = asked.request_state
            again = await call("odd:ask_person", {}, request_state=state, allow_input_required=True)
            reply = types.ElicitResult(action="decline")
            replies = dict.fromkeys(asked.input_requests, reply)
            with pytest.raises(MCPError, match="the call that asked has ended; make it again"):
                await call("odd:echo", {}, request_state=state, input_responses=replies)
            done = await call("odd:ask_person", {}, request_state=state, input_responses=replies)
            return asked.input_requests, again.input_requests, structure_of(done)

    asked, again, done = asyncio.run(use())

    assert again == asked
    assert done == {"action": "decline"}


def test_a_client_hears_which_lists_change(add: Add) -> None:
    add()

    async def use() -> Any:
        async with connected() as client, client.listen(tools_list_changed=True) as events:
            await client.call_tool("odd:grow", {"tool": "p", "kind": "prompts"})
            await client.call_tool("odd:grow", {"tool": "t", "kind": "tools"})
            with anyio.fail_after(20):
                return await anext(events)

    assert isinstance(asyncio.run(use()), ToolsListChanged)

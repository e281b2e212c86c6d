"""Upstreams that ask: the person, or the model, of whoever called."""

import asyncio
import contextlib
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client

from contextd.errors import TimedOut, UpstreamFailed
from gateway import client
from gateway.models import Isolation
from tests.clients import MODERN_VERSION, structure_of, text_of
from tests.conftest import Call
from tests.gateway.conftest import MISBEHAVING, Add
from tests.server import Server
from tests.waiting import wait_for

ERAS = ["legacy", MODERN_VERSION]
MODERN = [sys.executable, MISBEHAVING, "--modern"]


async def a_person(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": f"Ann, asked {params.message}"})


async def a_model(
    context: Any, params: types.CreateMessageRequestParams
) -> types.CreateMessageResult:
    content = types.TextContent(type="text", text="yes")
    return types.CreateMessageResult(role="assistant", content=content, model="small")


@asynccontextmanager
async def answering(server: Server, era: str) -> AsyncIterator[Client]:
    transport = streamable_http_client(f"{server.url}/mcp")
    async with Client(
        transport, mode=era, elicitation_callback=a_person, sampling_callback=a_model
    ) as client:
        yield client


@pytest.mark.parametrize("era", ERAS)
def test_what_it_asks_is_put_to_the_caller(server: Server, add: Add, era: str) -> None:
    add("old")
    add("new", command=MODERN)

    async def use() -> list[Any]:
        async with answering(server, era) as client:
            names = ["old__ask_person", "old__ask_model", "new__ask_person", "new__ask_model"]
            return [structure_of(await client.call_tool(name, {})) for name in names]

    old_person, old_model, new_person, new_model = asyncio.run(use())

    filled = {"action": "accept", "content": {"name": "Ann, asked Who are you?"}}
    assert old_person == filled
    assert new_person == {**filled, "state": "kept"}
    assert old_model["content"] == {"type": "text", "text": "yes"}
    assert new_model == {**old_model, "state": "kept"}


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_answers_nothing_is_told_to_the_upstream(
    server: Server, add: Add, era: str
) -> None:
    add("old")
    add("new", command=MODERN)

    async def use() -> tuple[Any, Any]:
        async with Client(streamable_http_client(f"{server.url}/mcp"), mode=era) as client:
            old = await client.call_tool("old__ask_person", {})
            return old, await client.call_tool("new__ask_model", {})

    old, new = asyncio.run(use())

    assert structure_of(old)["message"] == "your client does not answer elicitation/create"
    assert new.is_error
    assert "new:ask_model asks something: your client does not answer sampling" in str(new.content)


@pytest.mark.parametrize("command", [[sys.executable, MISBEHAVING], MODERN])
def test_a_reply_to_a_call_that_has_ended_makes_no_second_call(
    server: Server, add: Add, command: list[str]
) -> None:
    add(command=command)

    async def use() -> tuple[Any, Any]:
        async with answering(server, MODERN_VERSION) as client:
            call: Any = client.session.call_tool
            asked = await call("odd__ask_person", {}, allow_input_required=True)
            replies = dict.fromkeys(asked.input_requests, types.ElicitResult(action="decline"))
            retry = {"input_responses": replies, "allow_input_required": True}
            first = await call("odd__ask_person", {}, **retry)
            return first, await call("odd__ask_person", {}, **retry)

    first, second = asyncio.run(use())

    assert structure_of(first)["action"] == "decline"
    assert "the call that asked has ended; make it again" in text_of(second)


def test_malformed_questions_are_the_fault_of_the_upstream(add: Add, call: Call) -> None:
    add(command=MODERN)
    no_params = {"method": "elicitation/create", "params": [1]}

    malformed: list[Any] = [{"a": {}}, {"a": no_params}, {"a": "x"}, ["x"]]
    for questions in malformed:
        with pytest.raises(
            UpstreamFailed, match=r"odd:ask_badly: the result .*: inputRequests: .*valid|required"
        ):
            call("odd:ask_badly", questions=questions)


def test_a_question_that_its_client_left_open_stops_no_other(server: Server, add: Add) -> None:
    add()

    async def use() -> tuple[Any, Any]:
        async with answering(server, MODERN_VERSION) as client:
            call: Any = client.session.call_tool
            left = await call("odd__ask_person", {}, allow_input_required=True)
            return left, structure_of(await client.call_tool("odd__ask_model", {}))

    left, answered = asyncio.run(use())

    assert left.input_requests
    assert answered["content"] == {"type": "text", "text": "yes"}


def test_where_nobody_can_be_asked_the_upstream_is_told(add: Add, call: Call) -> None:
    add()

    assert (
        "elicitation/create cannot be answered here" in call("odd:ask_person").structured["message"]
    )


def test_of_two_calls_none_is_asked_for_the_other(add: Add, call: Call) -> None:
    add(isolation=Isolation.SHARED, request_timeout_ms=20_000)
    both = threading.Thread(target=suppressed, args=[call, "odd:hang"])
    both.start()

    wait_for(
        lambda: "several calls use this connection" in call("odd:ask_person").structured["message"]
    )

    client.control("restart", "odd")
    both.join()


def test_a_question_after_a_call_was_given_up_is_put_to_nobody_else(add: Add, call: Call) -> None:
    add(isolation=Isolation.SHARED, request_timeout_ms=300)
    with pytest.raises(TimedOut):
        call("odd:hang")

    answer = call("odd:ask_person").structured["message"]

    assert "an earlier call of another caller may still be running" in answer


def suppressed(call: Call, name: str) -> None:
    with contextlib.suppress(UpstreamFailed):
        call(name)


def test_a_call_that_is_given_up_while_it_asks_is_cancelled_there(server: Server, add: Add) -> None:
    add(isolation=Isolation.SHARED)
    is_asked = anyio.Event()

    async def never(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        is_asked.set()
        await anyio.sleep_forever()
        raise AssertionError

    async def use() -> int:
        transport = streamable_http_client(f"{server.url}/mcp")
        async with Client(transport, mode="legacy", elicitation_callback=never) as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "odd__ask_person", {})
                await is_asked.wait()
                tasks.cancel_scope.cancel()
            with anyio.fail_after(20):
                while (told := int(text_of(await client.call_tool("odd__cancelled", {})))) == 0:
                    await anyio.sleep(0.1)
            return told

    assert asyncio.run(use()) == 1


def test_the_time_that_the_caller_takes_does_not_count(server: Server, add: Add) -> None:
    add(request_timeout_ms=300)

    async def slow(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        await anyio.sleep(0.6)
        return types.ElicitResult(action="decline")

    async def use() -> Any:
        transport = streamable_http_client(f"{server.url}/mcp")
        async with Client(transport, mode="legacy", elicitation_callback=slow) as client:
            return structure_of(await client.call_tool("odd__ask_person", {}))

    assert asyncio.run(use()) == {"action": "decline"}

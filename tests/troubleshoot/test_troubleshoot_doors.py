"""Troubleshooting over MCP and REST, and a person who is asked."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client

from contextd import pipeline
from contextd.callers import Caller
from contextd.conversations import Alone, F
from tests.clients import MODERN_VERSION, over_http, text_of
from tests.server import Server
from tests.troubleshoot.conftest import DISK_FULL
from troubleshoot import interview
from troubleshoot.models import Diagnosis, Pattern

pytestmark = pytest.mark.anyio

Known = dict[str, Pattern]
ERAS = ["legacy", MODERN_VERSION]
ASKED = {"error_message": DISK_FULL, "mode": "interactive"}


class Person:
    def __init__(self, *seen: str | None) -> None:
        self._seen = list(seen)
        self.asked: list[str] = []

    async def answer(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.asked.append(params.message)
        seen = self._seen.pop(0)
        if seen is None:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept", content={"seen": seen})


@asynccontextmanager
async def talking(server: Server, era: str, person: Person) -> AsyncIterator[Client]:
    transport = streamable_http_client(f"{server.url}/mcp")
    async with Client(transport, mode=era, elicitation_callback=person.answer) as client:
        yield client


@pytest.mark.parametrize("era", ERAS)
async def test_the_person_is_asked_until_one_cause_stands(
    known: Known, server: Server, era: str
) -> None:
    person = Person("no", "yes")
    async with talking(server, era, person) as client:
        result = json.loads(text_of(await client.call_tool("troubleshoot", ASKED)))

    assert person.asked == [
        "Run `df -h /var/lib/shop`. Do you see this: Use% is 100?",
        "Run `df -i /var/lib/shop`. Do you see this: IUse% is 100?",
    ]
    assert result["root_cause"] == known["inodes-gone"].cause
    assert result["next_check"] is None


async def test_a_person_who_declines_is_not_asked_again(known: Known, server: Server) -> None:
    async with talking(server, MODERN_VERSION, Person(None)) as client:
        result = json.loads(text_of(await client.call_tool("troubleshoot", ASKED)))

    assert "The person did not answer" in result["notice"]
    assert result["next_check"]["id"] == "disk-full:1"


class Absent(Alone):
    """A person who answers the first question and never the second."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def ask(self, key: str, text: str, form: type[F]) -> F:
        self.asked.append(key)
        if len(self.asked) > 1:
            await asyncio.Event().wait()
        return form(seen="no")


def test_a_person_who_does_not_answer_in_time_loses_no_answer(
    known: Known, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interview, "RESERVED_SECONDS", 60)
    person = Absent()

    result: Any = pipeline.call("troubleshoot", ASKED, caller, person)

    assert "did not answer in time: go on with troubleshoot_continue" in result.notice
    assert person.asked == ["disk-full:1", "inodes-gone:1"]
    assert result.next_check.id == "inodes-gone:1"
    assert Diagnosis.objects.get().answers == {"disk-full:1": "not_as_expected"}


async def test_without_a_person_it_goes_on_as_guided(
    known: Known, server: Server, http: httpx2.Client
) -> None:
    async with over_http(server, "2025-06-18") as session:
        over_mcp = json.loads(text_of(await session.call_tool("troubleshoot", ASKED)))
    over_rest = http.post("/api/v1/troubleshoot", json=ASKED).json()
    made = {"session_id": over_rest["session_id"], "check": over_rest["next_check"]["id"]}
    arguments = {**made, "outcome": "as_expected"}
    narrowed = http.post("/api/v1/troubleshoot_continue", json=arguments).json()

    for result in (over_mcp, over_rest):
        assert "No person can be asked here" in result["notice"]
        assert result["next_check"]["id"] == "disk-full:1"
    assert narrowed["hypotheses"][0]["id"] == "disk-full"

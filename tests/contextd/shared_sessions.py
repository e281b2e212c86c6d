"""Two web processes and their clients, for tests of sessions that both serve."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest
from django.contrib.auth.models import User

from contexts import tokens
from tests.plain_http import (
    ACCEPT,
    events,
    modern,
    rpc,
)
from tests.server import Server, environment_of_processes, web_process

SECONDS = 20
STOP_SECONDS = 10
UPDATED = "notifications/resources/updated"
LOGGED = "notifications/message"
LIST_CHANGED = "notifications/tools/list_changed"
PROMPTS_CHANGED = "notifications/prompts/list_changed"
LISTS_CHANGED = {LIST_CHANGED, PROMPTS_CHANGED, "notifications/resources/list_changed"}
LISTEN = modern("subscriptions/listen", notifications={"toolsListChanged": True})


@pytest.fixture(scope="module")
def other_server(
    django_db_setup: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("other") / "log"
    with web_process(environment_of_processes(), log) as running:
        yield running


@pytest.fixture
def one(one_server: Server) -> Iterator[httpx2.Client]:
    with client_of(one_server) as client:
        yield client


@pytest.fixture
def other(other_server: Server) -> Iterator[httpx2.Client]:
    with client_of(other_server) as client:
        yield client


def client_of(server: Server) -> httpx2.Client:
    return httpx2.Client(base_url=server.url, headers={"Accept": ACCEPT}, timeout=SECONDS)


def status(client: httpx2.Client, session: Mapping[str, str], id: int = 1) -> int:
    return client.post("/mcp", json=rpc("ping", id=id), headers=dict(session)).status_code


def reply(question: Any, name: str) -> dict[str, Any]:
    result = {"action": "accept", "content": {"name": name}}
    return {"jsonrpc": "2.0", "id": question["id"], "result": result}


def secret_of(name: str) -> str:
    return tokens.create(User.objects.create_user(name), name="test")[1]


@contextmanager
def listening(client: httpx2.Client, session: Mapping[str, str]) -> Iterator[Iterator[Any]]:
    with client.stream("GET", "/mcp", headers=dict(session)) as stream:
        assert stream.status_code == 200
        yield events(stream)


def skip_missed(messages: Iterator[Any], count: int) -> None:
    """Skip what a process announces that does not know what the client has heard before."""
    for _ in range(count):
        next(messages)


def methods_of(messages: Iterator[Any]) -> Iterator[str]:
    return (message["method"] for message in messages)


def last_event_in(lines: Iterator[str]) -> str:
    return next(line for line in lines if line.startswith("id: ")).removeprefix("id: ")

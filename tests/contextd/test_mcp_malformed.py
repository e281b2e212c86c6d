"""Every malformed message has a documented answer."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from django.contrib.auth.models import User

from contexts import tokens
from contexts.models import Context
from tests.clients import MODERN_VERSION
from tests.contextd.malformed import CASES, PAGE, Answer, Case, table
from tests.contextd.test_mcp_stdio import HANDSHAKE, read, started, write
from tests.plain_http import answer_of, initialize, open_session
from tests.server import environment_of_processes, measured

OF_SESSIONS = [case for case in CASES if case.session]
MODERN = [case for case in CASES if case.modern]
ON_STDIO = [case for case in CASES if case.stdio]


def title(case: Case) -> str:
    return case.title


def given(response: httpx2.Response) -> Answer:
    answer = answer_of(response)
    return Answer(answer["error"]["code"], response.status_code, answer["id"] is not None)


def sent(content: Any) -> bytes:
    return content if isinstance(content, bytes) else json.dumps(content).encode()


@pytest.mark.parametrize("case", OF_SESSIONS, ids=title)
def test_on_a_session(http: httpx2.Client, case: Case) -> None:
    session = open_session(http, version=case.version) if case.version else {}

    response = send(http, case, case.body(is_modern=False), session)

    assert given(response) == case.session


@pytest.mark.parametrize("case", MODERN, ids=title)
def test_without_sessions(http: httpx2.Client, case: Case) -> None:
    body = case.body(is_modern=True)
    headers = {"MCP-Protocol-Version": MODERN_VERSION}
    if isinstance(body, dict):
        headers["Mcp-Method"] = str(body.get("method"))
        headers["Mcp-Name"] = str(body.get("params", {}).get("name"))

    response = send(http, case, body, headers)

    assert given(response) == case.modern


def send(http: httpx2.Client, case: Case, body: Any, given: dict[str, str]) -> httpx2.Response:
    named = {"Content-Type": "application/json", **given, **case.headers}
    if "{token}" in (authorization := named.get("Authorization") or ""):
        named["Authorization"] = authorization.format(token=token_outside("closed"))
    once = [(name, value) for name, value in named.items() if value is not None]
    every = [*once, *(pair for pair in case.twice for _ in range(2))]
    return http.request(case.method, "/mcp", content=sent(body), headers=every)


def token_outside(context: str) -> str:
    """Return the token of a user who has no permission in that context."""
    Context.objects.create(name=context)
    _, secret = tokens.create(User.objects.create_user("ann"), name="test")
    return secret


@pytest.fixture(scope="module")
def pipe(django_db_setup: None) -> Iterator[Any]:
    """Start one process for all cases, since no case may affect the next."""
    with started(measured(environment_of_processes())) as process:
        for message in HANDSHAKE:
            write(process, message)
        read(process)
        yield process
        assert process.stdin is not None
        process.stdin.close()
        process.wait(30)


@pytest.mark.parametrize("case", ON_STDIO, ids=title)
def test_on_standard_input(db: None, pipe: Any, case: Case) -> None:
    pipe.stdin.write(sent(case.body(is_modern=False)) + b"\n")
    pipe.stdin.flush()

    answer = read(pipe)

    assert Answer(answer["error"]["code"], None, answer["id"] is not None) == case.stdio


def test_the_page_has_the_table() -> None:
    """Run `make snapshots` to write the table."""
    assert table() in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("version", ["2099-01-01", MODERN_VERSION, ""])
def test_a_handshake_with_an_unknown_version_negotiates_the_latest(
    http: httpx2.Client, version: str
) -> None:
    answer = answer_of(http.post("/mcp", json=initialize(version)))

    assert answer["result"]["protocolVersion"] == "2025-11-25"

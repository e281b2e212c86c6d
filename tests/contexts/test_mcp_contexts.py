"""Contexts over MCP: chosen by a header, and what is listed there."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import anyio
import httpx2
import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from mcp import ClientSession, MCPError

from contexts import services, tokens
from contexts.models import Context, Permission, Token
from tests.clients import MODERN_VERSION, VERSIONS, over_http, over_stdio, text_of
from tests.contexts.conftest import MakeContext, MakeToken, grant, make_project
from tests.plain_http import answer_of, initialize, modern, open_session, rpc
from tests.server import ROOT, Server, eventually

pytestmark = [pytest.mark.anyio, pytest.mark.django_db(transaction=True)]

READ_TOOLS = {"checkpoint_get", "checkpoint_list", "checkpoint_resume", "checkpoint_search"}


@pytest.fixture
def ann_in_backend(ann: User, make_context: MakeContext, token_of: MakeToken) -> Mapping[str, str]:
    """Headers of somebody who may execute in `backend`, which holds the checkpoint tools."""
    backend = make_context(
        tools=["checkpoint_*"], resources=[], prompts=[], projects=(make_project("/w/shop"),)
    )
    grant(backend, ann)
    return {**token_of(ann), "X-MCP-Context": "backend"}


@pytest.fixture
def reader_in_backend(ann_in_backend: Mapping[str, str]) -> Mapping[str, str]:
    Token.objects.update(is_read_only=True)
    return ann_in_backend


@pytest.fixture
def narrow_backend(make_context: MakeContext) -> None:
    make_context(tools=["checkpoint_list"])


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
@pytest.mark.parametrize(("context", "status"), [("nope", 404), ("closed", 403)])
def test_a_context_that_may_not_be_used_is_refused_as_json_rpc(
    http: httpx2.Client,
    ann: User,
    make_context: MakeContext,
    token_of: MakeToken,
    method: str,
    context: str,
    status: int,
) -> None:
    make_context("closed")
    headers = {**token_of(ann), "X-MCP-Context": context}
    body = initialize("2025-11-25") if method == "POST" else None

    response = http.request(method, "/mcp", json=body, headers=headers)

    assert response.status_code == status
    error = response.json()["error"]
    assert error["code"] == -32600
    assert context in error["message"]
    assert error["data"]["category"] == {404: "not_found", 403: "unauthorized"}[status]


def test_a_repeated_header_is_refused(
    http: httpx2.Client, ann_in_backend: Mapping[str, str]
) -> None:
    headers = [*ann_in_backend.items(), ("X-MCP-Context", "default")]

    response = http.post("/mcp", json=initialize("2025-11-25"), headers=headers)

    assert response.status_code == 400
    assert "x-mcp-context was sent 2 times" in response.json()["error"]["message"]


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_context_lists_what_it_holds_and_nothing_else(
    server: Server, ann_in_backend: Mapping[str, str], version: str
) -> None:
    async with over_http(server, version, ann_in_backend) as session:
        listed = [tool.name for tool in (await session.list_tools()).tools]
        templates = (await session.list_resource_templates()).resource_templates
        prompts = (await session.list_prompts()).prompts
        refused = await error_of(session, "status")

    assert listed == sorted(listed)
    assert set(listed) > READ_TOOLS
    assert all(name.startswith("checkpoint_") for name in listed)
    assert (templates, prompts) == ([], [])
    assert refused == "[unauthorized] the context 'backend' does not contain the tool status"


@pytest.mark.parametrize("version", [VERSIONS[0], MODERN_VERSION])
async def test_what_only_reads_is_all_that_a_reader_is_shown(
    server: Server, reader_in_backend: Mapping[str, str], version: str
) -> None:
    async with over_http(server, version, reader_in_backend) as session:
        listed = {tool.name for tool in (await session.list_tools()).tools}
        refused = await error_of(session, "checkpoint_delete", id="7")

    assert listed == READ_TOOLS
    assert "needs the permission 'execute'" in refused
    assert "you have 'read'" in refused


async def error_of(session: ClientSession, name: str, **arguments: Any) -> str:
    """Return the text of the error, which is a result or a protocol error."""
    try:
        return text_of(await session.call_tool(name, arguments))
    except MCPError as error:
        return error.message


def test_a_list_is_private_to_its_caller(
    http: httpx2.Client, ann_in_backend: Mapping[str, str]
) -> None:
    request = modern("tools/list")

    ours = http.post(
        "/mcp", json=request["json"], headers={**request["headers"], **ann_in_backend}
    ).json()["result"]
    all_there_are = http.post("/mcp", **request).json()["result"]

    assert ours["cacheScope"] == all_there_are["cacheScope"] == "private"
    assert len(ours["tools"]) < len(all_there_are["tools"])


def test_a_session_belongs_to_the_context_it_was_opened_in(
    http: httpx2.Client, ann_in_backend: Mapping[str, str]
) -> None:
    session = open_session(http, dict(ann_in_backend))

    def ask(context: str | None) -> httpx2.Response:
        headers = {key: value for key, value in session.items() if key != "X-MCP-Context"}
        chosen = {} if context is None else {"X-MCP-Context": context}
        return http.post("/mcp", json=rpc("tools/list"), headers={**headers, **chosen})

    assert ask("default").status_code == 404
    assert ask(None).status_code == 404
    assert ask("backend").status_code == 200


def switch_off(record: Context | User) -> None:
    record.is_active = False
    record.save()


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (lambda: services.revoke(Context.objects.get(name="backend"), user="ann"), 403),
        (lambda: switch_off(Context.objects.get(name="backend")), 404),
        (lambda: switch_off(User.objects.get(username="ann")), 401),
        (lambda: tokens.revoke(Token.objects.get()), 401),
        (lambda: Token.objects.get().delete(), 401),
    ],
)
def test_an_open_session_ends_with_the_permission(
    http: httpx2.Client, ann_in_backend: Mapping[str, str], change: Any, status: int
) -> None:
    session = open_session(http, dict(ann_in_backend))
    assert http.post("/mcp", json=rpc("ping"), headers=session).status_code == 200

    change()

    def answer() -> int:
        return http.post("/mcp", json=rpc("ping"), headers=session).status_code

    assert eventually(lambda: answer() == status)


def test_an_open_session_sees_a_change_at_its_next_call(
    http: httpx2.Client, ann_in_backend: Mapping[str, str]
) -> None:
    session = open_session(http, dict(ann_in_backend))

    def tools() -> set[str]:
        answer = answer_of(http.post("/mcp", json=rpc("tools/list"), headers=session))
        return {tool["name"] for tool in answer["result"]["tools"]}

    assert "status" not in tools()
    backend = Context.objects.get(name="backend")
    backend.tools = ["status"]
    backend.save()
    assert eventually(lambda: tools() == {"status"})


def give_ann_less() -> None:
    services.grant(Context.objects.get(name="backend"), Permission.READ, user="ann")


def put_ann_in_a_group() -> None:
    User.objects.get(username="ann").groups.add(Group.objects.create(name="leads"))


def take_the_tools() -> None:
    backend = Context.objects.get(name="backend")
    backend.tools = []
    backend.save()


@pytest.mark.parametrize("change", [give_ann_less, put_ann_in_a_group, take_the_tools])
def test_clients_are_notified_when_their_permissions_change(
    http: httpx2.Client, ann_in_backend: Mapping[str, str], change: Callable[[], None]
) -> None:
    listen = modern("subscriptions/listen", notifications={"toolsListChanged": True})
    headers = {**listen["headers"], **ann_in_backend}

    with http.stream("POST", "/mcp", json=listen["json"], headers=headers) as stream:
        methods = methods_of(stream)
        assert next(methods) == "notifications/subscriptions/acknowledged"
        change()
        assert next(methods) == "notifications/tools/list_changed"


def methods_of(stream: httpx2.Response) -> Iterator[str]:
    for line in stream.iter_lines():
        if line.startswith("data: {"):
            yield json.loads(line.removeprefix("data: "))["method"]


async def test_stdio_works_in_the_context_it_is_started_in(
    environment: Mapping[str, str], narrow_backend: None
) -> None:
    in_backend = {**environment, "CONTEXTD_CONTEXT": "backend"}

    async with over_stdio(in_backend, MODERN_VERSION) as session:
        listed = [tool.name for tool in (await session.list_tools()).tools]
        refused = await error_of(session, "status")
        await anyio.to_thread.run_sync(switch_off_and_leave)
        ended = await error_of(session, "checkpoint_list")

    assert listed == ["checkpoint_list"]
    assert "does not contain the tool status" in refused
    assert ended == "[not_found] there is no context named 'backend'"


def switch_off_and_leave() -> None:
    switch_off(Context.objects.get(name="backend"))
    connection.close()


def test_stdio_does_not_start_in_an_unknown_context(
    environment: Mapping[str, str],
) -> None:
    command = [sys.executable, "manage.py", "mcp_stdio", "--context", "nope"]

    ended = subprocess.run(
        command, cwd=ROOT, env=environment, input=b"", capture_output=True, timeout=60, check=False
    )

    assert (ended.returncode, ended.stdout) == (1, b"")
    assert ended.stderr.decode().strip() == "CommandError: there is no context named 'nope'"

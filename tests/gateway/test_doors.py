"""What clients, commands and admins see of upstreams."""

import json
import re
import shlex
import sys
from dataclasses import replace
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from mcp.types import ListToolsResult
from mcp.types.methods import validate_server_result
from mcp.types.version import KNOWN_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION

from contextd import operations, pipeline
from contextd.callers import Caller, Entry
from contextd.errors import NotAllowed
from contextd.mcp import tools
from contexts.models import Context
from contexts.services import mistakes
from gateway import offering, services
from gateway.models import Kind, State, Upstream, UpstreamFeature, UpstreamSetting
from tests.conftest import Call
from tests.gateway.conftest import ECHO, MISBEHAVING, SCHEMA, Add


@pytest.fixture
def output(capsys: pytest.CaptureFixture[str]) -> Any:
    def output(*words: str) -> str:
        call_command("gateway", *words)
        return capsys.readouterr().out

    return output


def test_clients_are_listed_what_the_upstream_says(upstream: Upstream, caller: Caller) -> None:
    (tool,) = [tool for tool in tools.listed(caller, LATEST_HANDSHAKE_VERSION) if "__" in tool.name]

    assert tool.name == "odd__echo"
    assert tool.title == "odd:echo"
    assert tool.meta == {tools.CANONICAL: "odd:echo"}
    assert tool.input_schema == SCHEMA
    assert tool.annotations
    assert tool.annotations.read_only_hint


@pytest.mark.parametrize("version", KNOWN_PROTOCOL_VERSIONS)
@pytest.mark.parametrize(
    "part",
    [
        {"annotations": {"readOnlyHint": "sometimes"}},
        {"inputSchema": {"type": "object", "required": True}},
        {"inputSchema": {"type": "object", "properties": {"x": "string"}}},
    ],
)
def test_a_malformed_tool_in_the_database_does_not_hide_the_others(
    upstream: Upstream, caller: Caller, version: str, part: dict[str, Any]
) -> None:
    offering.save_listing(upstream.pk, Kind.TOOL, [ECHO, {**ECHO, "name": "fine"}])
    row = UpstreamFeature.objects.get(name="echo")
    row.definition = row.approved = {**row.definition, **part}
    row.save()

    found = tools.listed(caller, version)

    raw = ListToolsResult(tools=found).model_dump(by_alias=True, exclude_none=True)
    validate_server_result("tools/list", version, raw)
    assert "odd__fine" in {tool.name for tool in found}


def test_what_they_offered_is_known_while_the_database_does_not_answer(
    upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    assert operations.get("odd:echo").canonical_name == "odd:echo"
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE gateway_upstreamfeature RENAME TO away")
    try:
        assert "odd:echo" in {one.canonical_name for one in operations.available()}
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE away RENAME TO gateway_upstreamfeature")

    assert "the database does not answer" in caplog.text


def test_contexts_choose_tools_by_their_canonical_names(upstream: Upstream, caller: Caller) -> None:
    inside = replace(caller, entry=Entry(tools=("odd:e*",)))
    outside = replace(caller, entry=Entry(tools=("other:*",)))

    assert [tool.name for tool in tools.listed(inside, LATEST_HANDSHAKE_VERSION)] == ["odd__echo"]
    assert tools.listed(outside, LATEST_HANDSHAKE_VERSION) == []
    with pytest.raises(NotAllowed):
        pipeline.call("odd:echo", {}, outside)


def test_a_glob_for_an_upstream_is_no_mistake(upstream: Upstream) -> None:
    context = Context.objects.create(name="odd", tools=["odd:*"], is_open=True, all_projects=True)

    assert mistakes(context) == []


def test_whoever_may_only_read_calls_no_upstream(upstream: Upstream, caller: Caller) -> None:
    reader = replace(caller, entry=Entry(permission="read"))

    assert tools.listed(reader, LATEST_HANDSHAKE_VERSION) == [
        tool for tool in tools.listed(reader, LATEST_HANDSHAKE_VERSION) if "__" not in tool.name
    ]
    with pytest.raises(NotAllowed):
        pipeline.call("odd:echo", {}, reader)


def test_over_rest_it_is_called_by_its_canonical_name(add: Add) -> None:
    add()

    answer = Client(headers={"Host": "localhost"}).post(
        "/api/v1/odd:echo", {"word": "hello"}, content_type="application/json"
    )

    assert answer.status_code == 200
    assert answer.json()["content"][0]["text"] == '{"word": "hello"}'


def test_over_rest_an_unknown_name_is_not_found(transactional_db: None) -> None:
    answer = Client(headers={"Host": "localhost"}).post(
        "/api/v1/odd:echo", {}, content_type="application/json"
    )

    assert answer.status_code == 404


def test_from_the_command_line(add: Add, capsys: pytest.CaptureFixture[str]) -> None:
    add()

    call_command("call", "odd:echo", "word=hello")

    assert json.loads(capsys.readouterr().out)["content"]


def test_status_names_what_is_not_well(upstream: Upstream, call: Call) -> None:
    services.save_state(upstream.pk, State.FAILED, "no such program\nand more")

    status = call("status")

    gateway = status.services["gateway"]
    assert gateway.error == (
        "the gateway is not running (`manage.py up` starts it); odd is failed: no such program"
    )
    assert gateway.details
    assert re.fullmatch("odd: failed since .* UTC; before, failed: no such .*", gateway.details[0])


def test_status_names_upstreams_to_who_looks_after_them(upstream: Upstream, caller: Caller) -> None:
    services.save_state(upstream.pk, State.FAILED, "no such program")
    entries = {
        "all": Entry(),
        "reader": Entry(permission="read"),
        "other": Entry(name="other", tools=("status",)),
    }

    told = {
        name: pipeline.call("status", {}, replace(caller, entry=entry)).model_dump_json()
        for name, entry in entries.items()
    }

    assert [name for name, status in told.items() if "odd" in status] == ["all"]
    assert '"status":"unhealthy","error":"some of its parts do not work' in told["other"]
    assert '"tools_available":1,' in told["other"]


def test_without_a_gateway_nothing_is_said_to_be_ready(
    upstream: Upstream, call: Call, admin_client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    services.save_state(upstream.pk, State.READY)

    told = call("status").services["gateway"]
    page = admin_client.get("/admin/gateway/upstream/").content.decode()
    call_command("gateway", "list")

    assert told.status == "unhealthy"
    assert told.error == "the gateway is not running (`manage.py up` starts it)"
    assert "the gateway is not running" in page
    assert "the gateway is not running" in capsys.readouterr().err


def test_with_a_gateway_it_is_well(add: Add, call: Call) -> None:
    add()

    assert call("status").services["gateway"].status == "healthy"


def test_the_command_adds_shows_and_removes(transactional_db: None, output: Any) -> None:
    output(
        *("add", "lab", "--set", "KEY=secret", "--deny", "drop_*", "--startup-timeout", "90"),
        *("--command", "lab-mcp", "--stdio"),
    )
    added = Upstream.objects.get()

    assert added.startup_timeout_ms == 90_000

    assert added.command == ["lab-mcp", "--stdio"]
    assert UpstreamSetting.objects.get().value == "secret"
    assert "lab\tstdio\tstopped" in output("list")

    offering.save_listing(added.pk, Kind.TOOL, [ECHO, {**ECHO, "name": "drop_all"}])
    offering.save_listing(
        added.pk, Kind.TOOL, [{**ECHO, "description": "Other"}, {**ECHO, "name": "drop_all"}]
    )
    shown = output("show", "lab")

    assert "lab:drop_all\tleft out by the filter" in shown
    assert "lab:echo\theld back" in shown
    assert '+  "description": "Other"' in shown

    (command,) = re.findall("manage.py gateway (approve .*)", shown)
    output(*shlex.split(command))
    assert "lab:echo\toffered" in output("show", "lab")

    output("remove", "lab")
    assert not Upstream.objects.exists()
    assert "There are no upstreams" in output("list")


def test_the_command_tests_what_runs(add: Add, output: Any) -> None:
    add()

    assert f"odd answers and offers {len(offering.offered())} tools" in output("test", "odd")
    assert output("restart", "odd") == "odd is ready\n"


def test_what_was_just_added_can_be_tested_at_once(gateway: None, output: Any) -> None:
    output("add", "odd", "--command", sys.executable, MISBEHAVING)

    assert "odd answers and offers" in output("test", "odd")


def test_a_failed_test_names_the_upstream_once(add: Add, output: Any) -> None:
    add(command=["/no/such"], expect=State.FAILED)

    with pytest.raises(CommandError, match=r"^odd: there is no program '/no/such'"):
        output("test", "odd")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--url", "http://localhost:9999/mcp"], "odd cannot start: localhost is reached over"),
        (["--command", "/no/such"], "odd cannot start: there is no program '/no/such'"),
        (
            ["--set", "X-Key=\u00e9", "--url", "https://[2606:4700::1]/"],
            "odd cannot start: the head",
        ),
    ],
)
def test_adding_what_cannot_start_says_why(
    transactional_db: None, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    call_command("gateway", "add", "odd", *words)

    assert told in capsys.readouterr().err
    assert Upstream.objects.get().namespace == "odd"


def test_what_a_gateway_on_another_host_can_start_is_not_known_here(
    transactional_db: None, capsys: pytest.CaptureFixture[str], settings: Any
) -> None:
    settings.CONTEXTD_GATEWAY_ADDRESS = "gateway.internal:8090"

    call_command("gateway", "add", "odd", "--command", "/no/such")

    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["add", "odd", "--container", "a b", "--command", "true"], "container: Docker takes"),
        (["add", "Bad_Name", "--command", "true"], "namespace: Use up to 24 lower-case letters"),
        (["add", "odd"], "Give stdio a command"),
        (["add", "odd", "--startup-timeout", "soon", "--command", "y"], "'soon' is not a number"),
        (["add", "odd", "--startup-timeout", "999", "--command", "y"], "startup_timeout_ms: .*280"),
        (
            ["add", "odd", "--image", "a", "--command", "true"],
            "Only docker upstreams have an image",
        ),
        (["add", "skills", "--command", "true"], "namespace: skills is a prefix of contextd"),
        (["add", "odd", "--set", "1BAD=v", "--command", "y"], "name: Use letters, digits"),
        (["add", "odd", "--set", "A=a\x1bb", "--command", "y"], "A has control characters"),
        (["add", "odd", "--url", "https://me:secret@host/mcp"], "url: Write http"),
        (["show", "nobody"], "there is no upstream 'nobody'; there are: none"),
        (["restart", "nobody"], "there is no upstream 'nobody'"),
    ],
)
def test_the_command_says_what_is_wrong(
    transactional_db: None, words: list[str], told: str
) -> None:
    with pytest.raises(CommandError, match=told):
        call_command("gateway", *words)


@pytest.mark.parametrize(
    ("url", "is_one"),
    [
        ("http://mcp-server:8080/mcp", True),
        ("https://example.com", True),
        ("https://[::1]:8000/mcp?a=b", True),
        ("ftp://example.com/mcp", False),
        ("https://", False),
        ("https://me@example.com/mcp", False),
        ("https://example.com/m cp", False),
    ],
)
def test_an_address_may_be_of_any_host(url: str, is_one: bool) -> None:
    found: list[str] = []
    try:
        upstream = Upstream(namespace="odd", transport="http", url=url)
        upstream.full_clean(validate_unique=False, validate_constraints=False)
    except ValidationError as error:
        found = list(error.message_dict)

    assert found == ([] if is_one else ["url"])

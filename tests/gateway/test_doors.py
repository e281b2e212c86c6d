"""What clients, commands and admins see of upstreams."""

import json
import re
import shlex
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from contextd import operations, pipeline
from contextd.callers import Caller, Entry
from contextd.errors import NotAllowed
from contextd.mcp import tools
from contexts.models import Context
from contexts.services import mistakes
from gateway import offering, services
from gateway.models import Kind, State, Upstream, UpstreamFeature, UpstreamSetting
from tests.conftest import Call
from tests.gateway.conftest import Add

SCHEMA = {"type": "object", "properties": {"$ref": {"type": "string"}}, "$defs": {"a": {}}}
ECHO = {"name": "echo", "description": "Say it again", "inputSchema": SCHEMA}


@pytest.fixture
def upstream(transactional_db: None) -> Upstream:
    upstream = Upstream(namespace="odd", transport="stdio", command=["true"])
    services.add(upstream, {})
    offering.take_in(upstream.pk, Kind.TOOL, [{**ECHO, "annotations": {"readOnlyHint": True}}])
    return upstream


@pytest.fixture
def output(capsys: pytest.CaptureFixture[str]) -> Any:
    def output(*words: str) -> str:
        call_command("gateway", *words)
        return capsys.readouterr().out

    return output


def test_clients_are_listed_what_the_upstream_says(upstream: Upstream, caller: Caller) -> None:
    (tool,) = [tool for tool in tools.listed(caller, structured=True) if "__" in tool.name]

    assert tool.name == "odd__echo"
    assert tool.title == "odd:echo"
    assert tool.meta == {tools.CANONICAL: "odd:echo"}
    assert tool.input_schema == SCHEMA
    assert tool.annotations
    assert tool.annotations.read_only_hint


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

    assert [tool.name for tool in tools.listed(inside, structured=True)] == ["odd__echo"]
    assert tools.listed(outside, structured=True) == []
    with pytest.raises(NotAllowed):
        pipeline.call("odd:echo", {}, outside)


def test_a_glob_for_an_upstream_is_no_mistake(upstream: Upstream) -> None:
    context = Context.objects.create(name="odd", tools=["odd:*"], is_open=True, all_projects=True)

    assert mistakes(context) == []


def test_whoever_may_only_read_calls_no_upstream(upstream: Upstream, caller: Caller) -> None:
    reader = replace(caller, entry=Entry(permission="read"))

    assert tools.listed(reader, structured=True) == [
        tool for tool in tools.listed(reader, structured=True) if "__" not in tool.name
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
    services.note(upstream.pk, State.FAILED, "no such program\nand more")

    status = call("status")

    gateway = status.services["gateway"]
    assert gateway.error == "odd is failed: no such program"
    assert gateway.details
    assert re.fullmatch("odd: failed since .* UTC; before, failed: no such .*", gateway.details[0])


def test_status_names_upstreams_to_who_looks_after_them(upstream: Upstream, caller: Caller) -> None:
    services.note(upstream.pk, State.FAILED, "no such program")
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
    assert '"status":"unhealthy","error":"some of its parts are not well' in told["other"]
    assert '"tools_available":1,' in told["other"]


def test_the_command_adds_shows_and_removes(transactional_db: None, output: Any) -> None:
    output(
        "add", "lab", "--set", "KEY=secret", "--deny", "drop_*", "--command", "lab-mcp", "--stdio"
    )
    added = Upstream.objects.get()

    assert added.command == ["lab-mcp", "--stdio"]
    assert UpstreamSetting.objects.get().value == "secret"
    assert "lab\tstdio\tstopped" in output("list")

    offering.take_in(added.pk, Kind.TOOL, [ECHO, {**ECHO, "name": "drop_all"}])
    offering.take_in(
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


def test_the_command_tests_what_runs(add: Add, output: Any) -> None:
    add()

    assert "odd answers and offers 23 tools" in output("test", "odd")
    assert output("restart", "odd") == "odd is ready\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["add", "Bad_Name", "--command", "true"], "namespace: Use up to 24 lower-case letters"),
        (["add", "odd"], "Give stdio a command"),
        (
            ["add", "odd", "--image", "a", "--command", "true"],
            "Only docker upstreams have an image",
        ),
        (["show", "nobody"], "there is no upstream 'nobody'; there are: none"),
        (["restart", "nobody"], "there is no upstream 'nobody'"),
    ],
)
def test_the_command_says_what_is_wrong(
    transactional_db: None, words: list[str], told: str
) -> None:
    with pytest.raises(CommandError, match=told):
        call_command("gateway", *words)


def test_the_admin_shows_and_approves(upstream: Upstream, admin_client: Client) -> None:
    offering.take_in(upstream.pk, Kind.TOOL, [{**ECHO, "description": "<b>Other</b>"}])
    held = UpstreamFeature.objects.get()
    address = "/admin/gateway/upstreamfeature/"

    page = admin_client.get(f"{address}{held.pk}/change/").content.decode()
    listed = admin_client.get(f"/admin/gateway/upstream/{upstream.pk}/change/").content.decode()

    assert "&lt;b&gt;Other&lt;/b&gt;" in page
    assert "held back" in listed

    chosen = {"action": "approve_selected", "_selected_action": [held.pk]}
    asked = admin_client.post(address, chosen).content.decode()
    (shown,) = re.findall('name="shown" value="([^"]+)"', asked)
    assert "&lt;b&gt;Other&lt;/b&gt;" in asked
    assert "odd:echo" not in [offer.canonical for offer in offering.offered()]

    offering.take_in(upstream.pk, Kind.TOOL, [{**ECHO, "description": "<b>Another</b>"}])
    admin_client.post(address, {**chosen, "shown": [shown]})
    assert "odd:echo" not in [offer.canonical for offer in offering.offered()]

    offering.take_in(upstream.pk, Kind.TOOL, [{**ECHO, "description": "<b>Other</b>"}])
    admin_client.post(address, {**chosen, "shown": [shown]})

    assert operations.get("odd:echo").description == "<b>Other</b>"


def test_the_admin_never_shows_a_value_again(upstream: Upstream, admin_client: Client) -> None:
    setting = UpstreamSetting(upstream=upstream, name="KEY")
    setting.value = "hush-hush"
    setting.save()

    page = admin_client.get(f"/admin/gateway/upstream/{upstream.pk}/change/").content.decode()

    assert "KEY" in page
    assert "hush-hush" not in page

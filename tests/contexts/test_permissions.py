"""What may be used in a context: permissions, capability lists, and what a refusal says."""

import dataclasses
import json
from io import StringIO
from typing import Any, cast

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from contextd import operations, pipeline, prompts, resources
from contextd.callers import Caller, Entry
from contextd.errors import NotAllowed, NotFound
from contextd.resources import Contents
from contexts.models import Context
from tests.contexts.conftest import MakeContext, MakeToken, Post, grant, make_project

pytestmark = pytest.mark.django_db

# One operation of each effect, with arguments that reach its service.
EFFECTS = {
    "read": ("checkpoint_list", {}),
    "write": ("checkpoint_save", {"summary": "x", "project_path": "/w/shop"}),
    "delete": ("checkpoint_delete", {"id": "7"}),
}
ALLOWED = {
    "read": {"read"},
    "execute": {"read", "write", "delete"},
    "manage": {"read", "write", "delete"},
}
MATRIX = [(permission, effect) for permission in ALLOWED for effect in EFFECTS]


@pytest.mark.parametrize(("permission", "effect"), MATRIX)
def test_what_a_permission_allows(
    ann: User,
    make_context: MakeContext,
    token_of: MakeToken,
    post: Post,
    permission: str,
    effect: str,
) -> None:
    grant(make_context(projects=(make_project("/w/shop"),)), ann, permission)
    name, arguments = EFFECTS[effect]

    answer = post(name, arguments, token=token_of(ann), context="backend")

    if effect in ALLOWED[permission]:
        assert answer.status_code in (200, 404)  # there is no checkpoint 7
    else:
        assert answer.status_code == 403
        assert answer.json()["message"] == (
            f"{name} needs the permission 'execute' in the context 'backend', "
            f"and you have '{permission}'"
        )


@pytest.mark.parametrize("permission", ALLOWED)
def test_a_read_only_token_reads_whatever_its_user_may(
    ann: User, make_context: MakeContext, token_of: MakeToken, post: Post, permission: str
) -> None:
    grant(make_context(projects=(make_project("/w/shop"),)), ann, permission)
    token = token_of(ann, is_read_only=True)

    for effect, (name, arguments) in EFFECTS.items():
        expected = 200 if effect == "read" else 403
        assert post(name, arguments, token=token, context="backend").status_code == expected


@pytest.mark.parametrize(
    ("tools", "name", "is_held"),
    [
        ([], "checkpoint_list", False),
        (["*"], "checkpoint_list", True),
        (["checkpoint_list"], "checkpoint_list", True),
        (["checkpoint_list"], "checkpoint_get", False),
        (["checkpoint_*"], "checkpoint_get", True),
        (["checkpoint_*"], "status", False),
        (["status", "checkpoint_?et"], "checkpoint_get", True),
        (["checkpoints:*"], "checkpoint_list", True),
        (["contextd:*"], "checkpoint_list", False),
        (["CHECKPOINT_LIST"], "checkpoint_list", False),
        (["checkpoint"], "checkpoint_list", False),
    ],
)
def test_tools_are_held_by_name_or_glob(
    make_context: MakeContext, post: Post, tools: list[str], name: str, is_held: bool
) -> None:
    make_context(tools=tools)

    answer = post(name, {"id": "7"} if name == "checkpoint_get" else {}, context="backend")

    if is_held:
        assert answer.status_code in (200, 404)
    else:
        assert answer.status_code == 403
        assert answer.json()["message"] == f"the context 'backend' does not contain the tool {name}"


def test_the_command_line_acts_as_the_named_user(ann: User, make_context: MakeContext) -> None:
    grant(make_context(), ann, "read")

    listed = call_on_command_line("checkpoint_list", "--as", "ann", "--context", "backend")
    refused = refusal_on_command_line(
        "checkpoint_delete", "id=7", "--as", "ann", "--context", "backend"
    )

    assert listed["total"] == 0
    assert "needs the permission 'execute'" in refused


def test_the_command_line_refuses_as_the_other_doors_do(
    ann: User, make_context: MakeContext
) -> None:
    make_context(tools=["status"])

    for words, reason in [
        (["--as", "bob"], "there is no active user named 'bob'"),
        (["--as", "ann", "--context", "backend"], "you may not use the context 'backend'"),
        (["--context", "nope"], "there is no context named 'nope'"),
        (["--context", "backend"], "does not contain the tool checkpoint_list"),
    ]:
        assert reason in refusal_on_command_line("checkpoint_list", *words)


def call_on_command_line(*words: str) -> Any:
    out = StringIO()
    call_command("call", *words, stdout=out)
    return json.loads(out.getvalue())


def refusal_on_command_line(*words: str) -> str:
    with pytest.raises(CommandError) as refused:
        call_command("call", *words)
    return str(json.loads(str(refused.value))["message"])


@pytest.mark.django_db(transaction=True)
def test_the_admin_edits_within_default(post: Post, admin_client: Client) -> None:
    saved = post("checkpoint_save", {"summary": "first", "project_path": "/w/shop"}).json()
    address = f"/admin/checkpoints/checkpoint/{saved['id']}/change/"
    Context.objects.filter(name="default").update(tools=["checkpoint_get"])

    page: Any = admin_client.post(
        address, {"summary": "second", "context": "{}", "tags": ""}, follow=True
    )

    assert "does not contain the tool checkpoint_update" in page.content.decode()
    assert post("checkpoint_get", {"id": saved["id"]}).json()["summary"] == "first"


def test_what_is_held_is_asked_for_every_installed_operation(caller: Caller) -> None:
    nothing = Entry(name="empty", tools=(), resources=(), prompts=())
    offered = [*operations.installed(), *prompts.installed()]
    offered += [resource.reading for resource in resources.installed()]

    for operation in offered:
        with pytest.raises(NotAllowed, match=r"^the context 'empty' does not contain the "):
            pipeline.call_operation(operation, {}, in_context(caller, nothing))


def in_context(caller: Caller, entry: Entry) -> Caller:
    return dataclasses.replace(caller, entry=entry)


@pytest.mark.parametrize(
    ("globs", "uri", "is_held"),
    [
        ((), "checkpoint://7", False),
        (("*",), "checkpoint://7", True),
        (("checkpoint://*",), "checkpoint://7", True),
        (("checkpoint://7",), "checkpoint://7", True),
        (("checkpoint://7",), "checkpoint://8", False),
        (("checkpoint://{checkpoint_id}",), "checkpoint://7", True),
        (("skill://*",), "checkpoint://7", False),
        (("skill://*/SKILL.md",), "skill://deploy/SKILL.md?x=1", True),
        (("skill://*/SKILL.md",), "skill://deploy/keys.sh?/SKILL.md", False),
        (("skill://*?/SKILL.md",), "skill://deploy/keys.sh?/SKILL.md", False),
        (("skill://*/SKILL.md",), "skill://deploy/keys.sh?x=/SKILL.md", False),
        (("skill://deplo?/*",), "skill://deploy/SKILL.md", True),
        (("remediation://?",), "remediation://7?x=1", True),
        (("remediation://7?x=*",), "remediation://7?x=1", True),
        (("remediation://7?*",), "remediation://7?x=1", True),
        (("remediation://7?x=1",), "remediation://7?x=2", False),
        (("remediation://*?x=1",), "remediation://7?y=2?x=1", False),
    ],
)
def test_resources_are_held_by_address_or_form_or_glob(
    caller: Caller, globs: tuple[str, ...], uri: str, is_held: bool
) -> None:
    reading = resources.at(uri).reading
    somebody = in_context(caller, Entry(name="backend", resources=globs))

    with pytest.raises(NotFound if is_held else NotAllowed) as refused:
        pipeline.call_operation(reading, {"uri": uri}, somebody)
    if not is_held:
        assert "the context 'backend' does not contain the resource" in refused.value.message


@pytest.mark.parametrize("glob", ["checkpoint://recent", "checkpoint://recent{?project_path,tag}"])
def test_an_address_is_held_with_any_query(caller: Caller, glob: str) -> None:
    uri = "checkpoint://recent?project_path=/w/shop"
    somebody = in_context(caller, Entry(name="backend", resources=(glob,)))

    found = pipeline.call_operation(resources.at(uri).reading, {"uri": uri}, somebody)

    assert cast(Contents, found).uri == uri

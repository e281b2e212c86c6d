"""Projects, contexts and upstreams go out and come back, whole or not at all."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client

from contextd.models import Project
from contexts.models import Context, Grant, Variable
from gateway.models import Upstream, UpstreamFeature
from tests.contextd.transfer import FORMATS, exported, mistakes, preview, take_in

pytestmark = pytest.mark.django_db

PROJECTS = "/admin/contextd/project/"
CONTEXTS = "/admin/contexts/context/"
UPSTREAMS = "/admin/gateway/upstream/"
LEAKING = "postgresql://a:s3cretpass@b/c"


@pytest.fixture
def shop() -> Project:
    project = Project.objects.create(name="shop", git_remote="github.com/acme/shop")
    for path in ("/w/shop", "/x/shop"):
        project.paths.create(path=path)
    return project


@pytest.fixture
def web(shop: Project) -> Context:
    anna = User.objects.create_user("anna")
    team = Group.objects.create(name="team")
    rate = {"calls_per_second": 5, "calls_at_once": 9}
    context = Context.objects.create(name="web", tools=["checkpoint_*"], is_open=True, **rate)
    context.projects.add(shop)
    context.grants.create(user=anna, permission="read")
    context.grants.create(group=team, permission="manage")
    variable = Variable(context=context, name="API")
    variable.value = "hidden"
    variable.save()
    return context


def sent(client: Client, address: str, **row: Any) -> list[str]:
    return take_in(client, address, "json", json.dumps([row]).encode())


def refused(client: Client, address: str, *rows: dict[str, Any]) -> list[str]:
    return mistakes(preview(client, address, "json", json.dumps(rows, indent=1).encode()))


@pytest.mark.parametrize("form", FORMATS)
def test_projects_come_and_go(admin_client: Client, shop: Project, form: str) -> None:
    Project.objects.create(name="of no place")
    file = exported(admin_client, PROJECTS, form)
    again = take_in(admin_client, PROJECTS, form, file)
    Project.objects.all().delete()
    take_in(admin_client, PROJECTS, form, file)

    assert "0 new, 0 updated, 0 deleted and 2 skipped" in again[0]
    assert Project.objects.get(name="of no place").git_remote is None
    back = Project.objects.get(git_remote="github.com/acme/shop")
    assert (back.name, [str(path) for path in back.paths.all()]) == ("shop", ["/w/shop", "/x/shop"])


def test_a_project_is_known_by_its_remote_or_one_of_its_paths(
    admin_client: Client, shop: Project
) -> None:
    sent(admin_client, PROJECTS, name="a", git_remote="git@github.com:acme/shop.git")
    sent(admin_client, PROJECTS, name="b", paths=["/x/shop", "/y/shop"])

    (project,) = Project.objects.all()
    assert (project.pk, project.name, project.git_remote) == (shop.pk, "b", "github.com/acme/shop")
    assert [str(path) for path in project.paths.all()] == ["/x/shop", "/y/shop"]


def test_wrong_projects_are_refused(admin_client: Client, shop: Project) -> None:
    Project.objects.create(name="other").paths.create(path="/w/other")

    said = refused(
        admin_client,
        PROJECTS,
        {"name": "x", "git_remote": "???"},
        {"name": "x", "paths": ["w/x"]},
        {"name": "", "paths": ["/w/x"]},
        {"name": "x", "git_remote": "github.com/acme/shop", "paths": ["/w/other"]},
        {"name": "x", "paths": "5"},
        {"name": "x", "paths": ["/" + "x" * 5000]},
    )

    assert said[:4] == [
        "Line 2: git_remote must be host/path, such as github.com/acme/shop",
        "Line 6: paths: w/x must be an absolute path",
        "Line 12: name: This field cannot be blank.",
        "Line 18: paths: paths and remote belong to several projects (other, shop); merge these",
    ]
    assert said[4].endswith("paths must be a list")
    assert "path: Ensure this value has at most" in said[5]
    assert Project.objects.count() == 2


@pytest.mark.parametrize("form", FORMATS)
def test_contexts_come_and_go(admin_client: Client, web: Context, form: str) -> None:
    before = Context.objects.values().get(name="web")
    file = exported(admin_client, CONTEXTS, form, q="web")
    again = take_in(admin_client, CONTEXTS, form, file)
    web.delete()
    told = take_in(admin_client, CONTEXTS, form, file)

    assert "0 new, 0 updated, 0 deleted and 1 skipped" in again[0]
    back = Context.objects.get(name="web")
    new = {"id", "created_at", "updated_at"}
    after = Context.objects.values().get(name="web")
    assert {k: v for k, v in after.items() if k not in new} == {
        k: v for k, v in before.items() if k not in new
    }
    assert [str(project) for project in back.projects.all()] == ["shop"]
    assert {str(grant) for grant in back.grants.all()} == {
        "anna may read in web",
        "group team may manage in web",
    }
    assert b"API" in file
    assert not back.variables.exists()
    assert not [one for one in told if "matches no" in one]


def test_a_context_with_a_project_without_folder_comes_back(
    admin_client: Client, web: Context
) -> None:
    Project.objects.create(name="shop", git_remote="github.com/acme/other")
    alone = Project.objects.create(name="alone")
    web.projects.set([alone])
    file = exported(admin_client, CONTEXTS, "csv", q="web")
    web.projects.clear()

    take_in(admin_client, CONTEXTS, "csv", file)

    assert web.projects.get() == alone
    Project.objects.create(name="alone")
    web.projects.clear()
    (mistake,) = mistakes(preview(admin_client, CONTEXTS, "csv", file))
    assert "several projects without folder and remote are named 'alone'" in mistake


def test_an_imported_context_keeps_its_variables_and_loses_grants_that_are_left_out(
    admin_client: Client, web: Context
) -> None:
    grants = [{"user": "anna", "permission": "execute"}]
    told = sent(admin_client, CONTEXTS, name="web", tools=["lost_*"], grants=grants)

    assert [str(grant) for grant in web.grants.all()] == ["anna may execute in web"]
    assert web.variables.get().value == "hidden"
    assert [str(project) for project in web.projects.all()] == ["shop"]
    assert "web: 'lost_*' matches no tool" in told


def test_wrong_contexts_are_refused(admin_client: Client, web: Context) -> None:
    rows: list[dict[str, Any]] = [
        {"name": "web", "projects": ["/lost"]},
        {"name": "web", "grants": [{"user": "nobody", "permission": "read"}]},
        {"name": "web", "grants": [{"group": "team", "permission": "own"}]},
        {"name": "web", "grants": ["anna"]},
        {"name": "web", "grants": [{"user": 5, "permission": "read"}]},
        {"name": "web", "calls_per_second": "many"},
        {"name": "default", "is_active": False},
        {"name": "A b"},
    ]
    said = refused(admin_client, CONTEXTS, *rows)

    assert [one.partition(": ")[2] for one in said[:6]] == [
        "projects: there is no project at '/lost'; import or create it first",
        "grants: there is no user named 'nobody'; create it in the admin, under Users",
        "grants: the permission must be one of read, execute, manage",
        'grants must look like {"user": "anna", "permission": "read"}, or have a group',
        "grants: names and permissions must be text",
        "calls_per_second must be a whole number",
    ]
    assert "Requests that name no context use this one" in said[6]
    assert "name: Use lower-case letters" in said[7]
    assert Grant.objects.count() == 2


def test_who_may_only_see_contexts_exports_no_grants_and_imports_nothing(
    client: Client, web: Context
) -> None:
    staff = User.objects.create_user("staff", is_staff=True)
    staff.user_permissions.add(Permission.objects.get(codename="view_context"))
    client.force_login(staff)

    (row,) = json.loads(exported(client, CONTEXTS, "json", q="web"))

    assert row["projects"] == ["/w/shop"]
    assert row.keys() & {"grants", "variables"} == set()
    assert client.get(f"{CONTEXTS}import/").status_code == 403


@pytest.mark.parametrize("form", FORMATS)
def test_upstreams_come_and_go(admin_client: Client, form: str) -> None:
    made = {"namespace": "github", "transport": "stdio", "command": ["x", "-y"]}
    Upstream.objects.create(**made, request_timeout_ms=5000, is_enabled=False)
    file = exported(admin_client, UPSTREAMS, form)
    again = take_in(admin_client, UPSTREAMS, form, file)
    Upstream.objects.all().delete()
    take_in(admin_client, UPSTREAMS, form, file)

    assert "0 new, 0 updated, 0 deleted and 1 skipped" in again[0]
    back = Upstream.objects.get()
    assert (back.namespace, back.transport, back.command) == tuple(made.values())
    assert (back.request_timeout_ms, back.is_enabled) == (5000, False)


def test_an_imported_upstream_is_started_anew_and_offers_what_its_filter_lets_by(
    admin_client: Client,
) -> None:
    upstream = Upstream.objects.create(namespace="github", transport="stdio", command=["x"])
    tool = {"name": "search", "wire_name": "github__search", "definition": {}}
    UpstreamFeature.objects.create(upstream=upstream, **tool)
    sent(admin_client, UPSTREAMS, namespace="github", denied_tools=["search"])

    assert Upstream.objects.get().updated_at > upstream.updated_at
    assert not UpstreamFeature.objects.get().is_allowed


def test_wrong_upstreams_are_refused(admin_client: Client) -> None:
    http = {"namespace": "a", "transport": "http"}
    said = refused(
        admin_client,
        UPSTREAMS,
        http,
        {**http, "url": "https://x/", "namespace": "skills"},
        {**http, "url": "https://x/", "request_timeout_ms": 1},
        {"namespace": "b", "transport": "stdio", "command": ["x", LEAKING]},
        {"namespace": "right", "transport": "stdio", "command": ["x"]},
    )

    assert [one.partition(": ")[2].partition(";")[0] for one in said] == [
        "Give stdio a command, docker a command and a container, http a URL.",
        "namespace: skills is a prefix of contextd's own tools",
        "request_timeout_ms: Ensure this value is greater than or equal to 100.",
        "command[1] contains a credential (url-password)",
    ]
    assert not Upstream.objects.exists()


def test_credentials_are_taken_out_of_fields_on_request(admin_client: Client) -> None:
    row = {"namespace": "b", "transport": "stdio", "command": ["x", LEAKING]}
    content = json.dumps([row]).encode()
    told = take_in(admin_client, UPSTREAMS, "json", content, takes_credentials="on")

    assert "s3cretpass" not in str(Upstream.objects.get().command)
    assert "1 credentials were replaced before saving" in told

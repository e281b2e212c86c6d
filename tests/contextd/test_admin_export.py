"""Every kind of record goes out as CSV and JSON, for whoever may see it, without what is secret."""

import csv
import io
import json
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.utils import timezone

from contextd import logins
from contextd.admin import Exportable
from contextd.models import DetachedCall, Encrypted, Project, Session
from contexts import tokens
from contexts.models import AuditEntry, Context, Grant, Variable
from gateway.models import Upstream, UpstreamFeature, UpstreamSetting
from repositories.models import Repository, SourceFile
from skills.models import Skill, SkillUse
from tests.contextd.transfer import FORMATS, exported
from troubleshoot.models import Diagnosis

pytestmark = pytest.mark.django_db

NOT_EXPORTED: dict[str, str] = {}
"""Kinds of records without an export, such as technical tables of libraries, and why."""

SECRET = "s3cret-value"


def address_of(label: str) -> str:
    return f"/admin/{label.lower().replace('.', '/')}/"


def rows_of(client: Client, label: str, **query: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(exported(client, address_of(label), "json", **query))
    return rows


def keep_secret(encrypted: Encrypted) -> None:
    encrypted.value = SECRET
    encrypted.save()


@pytest.fixture
def records() -> None:
    """One of each kind that comes from calls or work, with a secret wherever one may be."""
    anna = User.objects.create_user("anna", password=SECRET)
    anna.groups.add(team := Group.objects.create(name="team"))
    team.permissions.add(Permission.objects.get(codename="view_project"))
    shop = Project.objects.create(name="shop", git_remote="github.com/acme/shop")
    shop.paths.create(path="/w/shop")
    context = Context.objects.create(name="web")
    context.projects.add(shop)
    context.grants.create(user=anna)
    keep_secret(Variable(context=context, name="API"))
    tokens.create(anna, name="laptop", contexts=[context])
    place = {"principal": "user:1", "context": "web"}
    AuditEntry.objects.create(
        **place, operation="=SUM(1)", door="http", client="c", connection=SECRET,
        outcome="ok", was_allowed=True, milliseconds=1.5,
    )  # fmt: skip
    moment = timezone.now()
    said = {"arguments": {"text": SECRET}, "outcome": {"text": SECRET}}
    call = {"id": "call-1", "operation": "checkpoint_save", "leased_until": moment}
    DetachedCall.objects.create(**place, **call, **said, expires_at=moment)
    Session.objects.create(
        **place, id=SECRET, user=anna, client_name="c", client_capabilities={"roots": {}}
    )
    repository = Repository.objects.create(project=shop, path="/w/shop", max_file_size=9)
    file = {"path": "a.py", "language": "python", "size": 1, "symbols": ["f"]}
    SourceFile.objects.create(repository=repository, **file, modified_at=moment)
    skill = Skill.objects.create(name="Release", slug="release", version="1.0.0", token_count=1)
    SkillUse.objects.create(skill=skill, principal="user:1", usage_count=2)
    Diagnosis.objects.create(**place, error_message="E: full", mode="quick")
    upstream = Upstream.objects.create(namespace="github", transport="stdio", command=["x"])
    keep_secret(UpstreamSetting(upstream=upstream, name="TOKEN"))
    UpstreamFeature.objects.create(
        upstream=upstream, name="search", wire_name="github__search", definition={"name": "search"}
    )


def kinds() -> list[str]:
    return [model._meta.label for model in admin.site._registry]


def test_an_export_with_a_filter_that_the_list_has_not_goes_to_the_list(
    admin_client: Client, records: None
) -> None:
    for label in kinds():
        if label in NOT_EXPORTED:
            continue
        for query in ("category=nope", "state__exact=draft", f"project__id__exact={10**20}"):
            page = admin_client.get(f"{address_of(label)}export/?{query}", follow=True)

            assert page.status_code in (200, 400), (label, query)


def test_every_kind_of_record_can_be_exported(admin_client: Client, records: None) -> None:
    """A new kind is given `Exportable` or `Transferable`, or its reason above."""
    assert admin_client.get("/admin/").status_code == 200
    exporting = {
        m._meta.label for m, a in admin.site._registry.items() if isinstance(a, Exportable)
    }

    assert {*kinds()} - exporting == NOT_EXPORTED.keys()
    for label in exporting:
        files = [exported(admin_client, address_of(label), form).decode() for form in FORMATS]
        assert not [label for file in files if SECRET in file]
        assert "Export" in admin_client.get(address_of(label)).content.decode()


def test_what_comes_from_calls_and_work_is_exported_as_it_is_shown(
    admin_client: Client, records: None
) -> None:
    (entry,) = rows_of(admin_client, "contexts.AuditEntry", q="SUM")
    (call,) = rows_of(admin_client, "contextd.DetachedCall")
    (session,) = rows_of(admin_client, "contextd.Session")
    (repository,) = rows_of(admin_client, "repositories.Repository")
    (file,) = rows_of(admin_client, "repositories.SourceFile")
    (use,) = rows_of(admin_client, "skills.SkillUse")
    (feature,) = rows_of(admin_client, "gateway.UpstreamFeature")

    assert entry["principal"] == "user:1"
    assert "connection" not in entry
    assert call.keys() & {"arguments", "questions", "replies", "outcome"} == set()
    assert (session["user"], session["client_capabilities"]) == ("anna", {"roots": {}})
    assert "id" not in session
    assert (repository["project"], repository["file_count"]) == ("shop", 1)
    assert (file["repository"], file["symbols"]) == ("/w/shop", ["f"])
    assert (use["skill"], use["usage_count"]) == ("Release 1.0.0", 2)
    assert (feature["upstream"], feature["definition"]) == ("github", {"name": "search"})
    assert feature["standing"].startswith("held back")


def test_accounts_are_exported_without_what_they_log_in_with(
    admin_client: Client, records: None
) -> None:
    anna = next(row for row in rows_of(admin_client, "auth.User") if row["username"] == "anna")
    (team,) = rows_of(admin_client, "auth.Group")
    (token,) = rows_of(admin_client, "contexts.Token")

    assert anna["groups"] == ["team"]
    assert "password" not in anna
    assert team == {"name": "team", "permissions": ["contextd.view_project"]}
    assert (token["user"], token["contexts"]) == ("anna", ["web"])
    assert "digest" not in token


def test_formulas_are_marked_in_what_comes_from_calls(admin_client: Client, records: None) -> None:
    file = exported(admin_client, address_of("contexts.AuditEntry"), "csv", q="SUM").decode()
    (entry,) = csv.DictReader(io.StringIO(file))

    assert entry["operation"] == "'=SUM(1)"


def test_changes_made_in_the_admin_are_exported(admin_client: Client) -> None:
    admin_client.post("/admin/auth/group/add/", {"name": "team"})

    (change,) = rows_of(admin_client, "admin.LogEntry")
    assert (change["user"], change["action"], change["object_repr"]) == (
        "admin",
        "Addition",
        "team",
    )
    assert change["change_message"] == "Added."


def test_whoever_may_not_see_may_not_export(client: Client) -> None:
    client.force_login(User.objects.create_user("staff", is_staff=True))
    chosen = {"format": FORMATS["csv"], "resource": ""}

    assert client.get("/admin/").status_code == 200
    pages = {label: client.post(f"{address_of(label)}export/", chosen) for label in kinds()}
    assert {page.status_code for page in pages.values()} == {403}


def test_staff_export_in_the_context_that_they_selected(client: Client, records: None) -> None:
    Context.objects.filter(name="default").update(is_open=False)
    client.force_login(staff := User.objects.create_user("staff", is_staff=True))
    staff.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    address = f"{address_of('checkpoints.Checkpoint')}export/"

    refused = client.get(address, follow=True)
    theirs = Context.objects.create(name="theirs", all_projects=True, tools=["*"])
    Grant.objects.create(context=theirs, user=staff, permission="execute")
    session = client.session
    session[logins.CONTEXT] = "theirs"
    session.save()

    assert "Not done: " in refused.content.decode()
    assert "Select a context on the dashboard" in refused.content.decode()
    assert client.get(address).status_code == 200


def test_staff_export_their_own_tokens_only(client: Client, records: None) -> None:
    bert = User.objects.create_user("bert", is_staff=True)
    bert.user_permissions.add(Permission.objects.get(codename="view_token"))
    tokens.create(bert, name="mine", contexts=None)
    client.force_login(bert)

    assert [row["name"] for row in rows_of(client, "contexts.Token")] == ["mine"]

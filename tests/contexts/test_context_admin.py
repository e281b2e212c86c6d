"""The admin of contexts: who may change which, and what of it."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission as DjangoPermission
from django.contrib.auth.models import User
from django.test import Client

from contexts.models import Context, Grant
from tests.contexts.conftest import MakeContext, grant, make_project

pytestmark = pytest.mark.django_db

LIST = "/admin/contexts/context/"


@pytest.fixture
def manager(ann: User, make_context: MakeContext) -> Client:
    """Ann, who may log in, and manages `backend` and only executes in `frontend`."""
    User.objects.filter(pk=ann.pk).update(is_staff=True)
    grant(make_context("backend"), ann, "manage")
    grant(make_context("frontend"), ann, "execute")
    return logged_in(ann)


def logged_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def address_of(name: str) -> str:
    return f"{LIST}{Context.objects.get(name=name).pk}/change/"


def form(**changed: str) -> dict[str, str]:
    form = {
        "description": "",
        "is_active": "on",
        "tools": "*",
        "resources": "*",
        "prompts": "*",
        "grants-TOTAL_FORMS": "0",
        "grants-INITIAL_FORMS": "0",
        "variables-TOTAL_FORMS": "0",
        "variables-INITIAL_FORMS": "0",
    }
    return {**form, **changed}


def new_grant(user: User, permission: str = "execute") -> dict[str, str]:
    return {
        "grants-TOTAL_FORMS": "1",
        "grants-0-user": str(user.pk),
        "grants-0-group": "",
        "grants-0-permission": permission,
    }


def test_a_context_is_created_with_grants_and_variables(admin_client: Client, ann: User) -> None:
    shop = make_project("/w/shop")
    variable = {
        "variables-TOTAL_FORMS": "1",
        "variables-0-name": "API_KEY",
        "variables-0-value": "hunter2",
        "variables-0-is_secret": "on",
    }
    fields = {"name": "shop", "tools": "checkpoint_*, status", "projects": [str(shop.pk)]}

    sent: Any = {**form(**new_grant(ann), **variable), **fields}
    assert admin_client.post(f"{LIST}add/", sent).status_code == 302

    made = Context.objects.get(name="shop")
    assert made.tools == ["checkpoint_*", "status"]
    assert list(made.projects.all()) == [shop]
    assert (made.grants.get().user, made.grants.get().permission) == (ann, "execute")
    assert (made.variables.get().name, made.variables.get().value) == ("API_KEY", "hunter2")


def test_likely_mistakes_are_reported(admin_client: Client) -> None:
    sent = {**form(), "name": "shop", "tools": "checkpiont_*"}

    page: Any = admin_client.post(f"{LIST}add/", sent, follow=True)

    shown = [str(message) for message in page.context["messages"]]
    assert "shop: 'checkpiont_*' matches no tool" in shown
    assert any("only superusers may use it" in message for message in shown)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"name": "Shop"}, "Use lower-case letters"),
        ({"calls_per_second": "3"}, "Give both numbers of the rate"),
        ({"calls_per_second": "0", "calls_at_once": "5"}, "Give both numbers of the rate"),
        ({"grants-TOTAL_FORMS": "1", "grants-0-permission": "read"}, "Choose a user or a group"),
        ({"tools": "x" * 201}, "at most 200 characters"),
    ],
)
def test_invalid_values_of_a_context_are_refused(
    admin_client: Client, changed: dict[str, str], reason: str
) -> None:
    page = admin_client.post(f"{LIST}add/", {**form(), "name": "shop", **changed})

    assert page.status_code == 200
    assert reason in page.content.decode()
    assert not Context.objects.filter(name="shop").exists()


def test_default_cannot_be_deleted_or_deactivated(admin_client: Client) -> None:
    default = Context.objects.get(name="default")
    sent = form()
    del sent["is_active"]

    assert admin_client.post(address_of("default"), sent).status_code == 302
    admin_client.post(f"{LIST}{default.pk}/delete/", {"post": "yes"})
    chosen = {"action": "delete_selected", "_selected_action": [default.pk], "post": "yes"}
    admin_client.post(LIST, chosen)

    default.refresh_from_db()
    assert default.is_active


def test_others_can_be_deleted(admin_client: Client, make_context: MakeContext) -> None:
    backend = make_context()

    admin_client.post(f"{LIST}{backend.pk}/delete/", {"post": "yes"})

    assert not Context.objects.filter(name="backend").exists()


def test_a_manager_sees_and_changes_the_own_context(manager: Client) -> None:
    listed = manager.get(LIST).content.decode()
    answer = manager.post(address_of("backend"), form(description="Ours", tools="status"))

    assert "backend" in listed
    assert "frontend" not in listed
    assert answer.status_code == 302
    changed = Context.objects.get(name="backend")
    assert (changed.description, changed.tools) == ("Ours", ["status"])


def test_a_manager_grants_the_own_context(manager: Client) -> None:
    bob = User.objects.create_user("bob")
    own = Grant.objects.get(context__name="backend")
    kept = {
        "grants-INITIAL_FORMS": "1",
        "grants-TOTAL_FORMS": "2",
        "grants-0-id": str(own.pk),
        "grants-0-context": str(own.context_id),
        "grants-0-user": str(own.user_id),
        "grants-0-permission": "manage",
        "grants-1-context": str(own.context_id),
        "grants-1-user": str(bob.pk),
        "grants-1-permission": "read",
    }

    assert manager.post(address_of("backend"), form(**kept)).status_code == 302

    assert Grant.objects.get(user=bob).context.name == "backend"


def test_a_manager_cannot_add_projects_or_change_the_rate(manager: Client) -> None:
    secret = make_project("/w/secret")
    sent: Any = {
        **form(all_projects="on", calls_per_second="1000", calls_at_once="1000", name="default2"),
        "projects": [str(secret.pk)],
    }

    assert manager.post(address_of("backend"), sent).status_code == 302

    unchanged = Context.objects.get(name="backend")
    assert not unchanged.all_projects
    assert not unchanged.projects.exists()
    assert unchanged.calls_per_second is None


def test_a_manager_cannot_switch_off_the_review_or_open_the_context(manager: Client) -> None:
    Context.objects.filter(name="backend").update(needs_review=True)
    sent = form(is_open="on")
    del sent["is_active"]

    assert manager.post(address_of("backend"), sent).status_code == 302

    unchanged = Context.objects.get(name="backend")
    assert (unchanged.needs_review, unchanged.is_open, unchanged.is_active) == (True, False, True)


@pytest.mark.parametrize("name", ["frontend", "default"])
def test_a_manager_of_one_context_changes_no_other(manager: Client, ann: User, name: str) -> None:
    before = (list(Context.objects.values()), list(Grant.objects.values()))

    manager.post(address_of(name), form(description="Mine", **new_grant(ann, "manage")))
    manager.post(f"{LIST}add/", {**form(), "name": "mine"})
    backend = Context.objects.get(name="backend")
    manager.post(f"{LIST}{backend.pk}/delete/", {"post": "yes"})

    assert (list(Context.objects.values()), list(Grant.objects.values())) == before


def test_a_grant_cannot_be_added_to_another_context(manager: Client, ann: User) -> None:
    frontend = Context.objects.get(name="frontend")
    smuggled = {**new_grant(ann, "manage"), "grants-0-context": str(frontend.pk)}

    manager.post(address_of("backend"), form(**smuggled))

    assert [one.permission for one in frontend.grants.all()] == ["execute"]


def test_staff_without_a_managed_context_see_none(ann: User, make_context: MakeContext) -> None:
    User.objects.filter(pk=ann.pk).update(is_staff=True)
    grant(make_context("backend"), ann, "execute")

    assert logged_in(ann).get(LIST).status_code == 403
    assert logged_in(ann).get(address_of("backend")).status_code == 403


def test_staff_with_view_permission_change_nothing(ann: User, make_context: MakeContext) -> None:
    make_context("backend")
    User.objects.filter(pk=ann.pk).update(is_staff=True)
    ann.user_permissions.add(DjangoPermission.objects.get(codename="view_context"))

    assert "backend" in logged_in(ann).get(LIST).content.decode()
    answer = logged_in(ann).post(address_of("backend"), form(description="Mine"))
    assert answer.status_code == 403

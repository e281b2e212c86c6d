"""The pages of the admin: all of them open, in the theme, with what is needed from here alone."""

import re
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.contrib.staticfiles import finders
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from contextd.admin.navigation import GROUPS
from contextd.models import Session

pytestmark = pytest.mark.django_db


def side_bar(client: Client) -> dict[str, list[str]]:
    groups = client.get("/admin/").context["sidebar_navigation"]
    return {group.get("title", ""): [item["title"] for item in group["items"]] for group in groups}


def lists() -> list[str]:
    names = [model._meta.label_lower.replace(".", "_") for model in admin.site._registry]
    return [reverse(f"admin:{name}_changelist") for name in names]


def test_every_list_and_form_opens_and_says_what_it_is_for(admin_client: Client) -> None:
    for address in lists():
        page = admin_client.get(address)
        form = admin_client.get(f"{address}add/")

        assert page.status_code == 200
        assert form.status_code in (200, 403)
        about = page.context["cl"].model_admin.about
        assert about
        assert escape(about) in page.content.decode()


def test_all_is_found_in_the_side_bar_under_what_it_is_about(admin_client: Client) -> None:
    shown = side_bar(admin_client)

    assert list(shown) == ["", *GROUPS]
    assert shown[""] == ["Dashboard"]
    assert shown["Knowledge"] == ["Checkpoints", "Patterns", "Remediations", "Skills", "Threats"]
    assert sum(map(len, shown.values())) == len(lists()) + 1


def test_staff_find_what_they_may_see_and_nothing_else(client: Client) -> None:
    staff = User.objects.create_user("ann", is_staff=True)
    staff.user_permissions.add(Permission.objects.get(codename="view_checkpoint"))
    client.force_login(staff)

    assert side_bar(client) == {"": ["Dashboard"], "Knowledge": ["Checkpoints"]}


@pytest.mark.parametrize("address", ["/admin/login/", "/admin/", "/admin/skills/skill/"])
def test_nothing_is_loaded_from_elsewhere(admin_client: Client, address: str) -> None:
    client = Client() if "login" in address else admin_client
    page = client.get(address).content.decode()
    loaded = re.findall(r'(?:src|href)="([^"]+\.(?:js|css)[^"]*)"', page)

    assert len(loaded) > 5
    for file in loaded:
        assert finders.find(file.partition("?")[0].removeprefix("/static/")), file


@pytest.mark.parametrize("path", ["?tag=%00", "?context=a%00", "%00/change/", "_00/history/"])
def test_what_cannot_be_stored_is_no_address(admin_client: Client, path: str) -> None:
    admin_client.raise_request_exception = False

    for address in lists():
        assert admin_client.get(f"{address}{path}", follow=True).status_code in (400, 200, 404)


def test_who_changed_what_is_told_with_the_time(admin_client: Client, admin_user: User) -> None:
    form: dict[str, Any] = {"name": "Reviewers", "permissions": []}
    admin_client.post("/admin/auth/group/add/", form)
    entry = LogEntry.objects.get()
    history = admin_client.get(f"/admin/auth/group/{entry.object_id}/history/").content.decode()
    everywhere = admin_client.get("/admin/admin/logentry/").content.decode()

    assert "admin" in history
    assert "Added." in history
    assert "Reviewers" in everywhere
    assert admin_client.post(f"/admin/admin/logentry/{entry.pk}/delete/").status_code == 403


@pytest.mark.parametrize(
    "address",
    [
        "contextd/detachedcall/?arguments__password__startswith=a",
        "contextd/detachedcall/?outcome__icontains=a",
        "contextd/session/?id__startswith=a",
        "contextd/session/?pk__startswith=a",
        "contexts/token/?digest__startswith=a",
        "auth/user/?password__startswith=a",
        "admin/logentry/?user__password__startswith=a",
    ],
)
def test_no_filter_reveals_a_hidden_field(admin_client: Client, address: str) -> None:
    assert admin_client.get(f"/admin/{address}").status_code == 400


def test_no_search_reveals_the_id_of_a_session(admin_client: Client) -> None:
    session = Session.objects.create(
        id="abcdef", client_name="editor", client_capabilities={}, context="default"
    )

    def found(words: str) -> list[Session]:
        page: Any = admin_client.get("/admin/contextd/session/", {"q": words})
        return list(page.context["cl"].result_list)

    assert found("abc") == []
    assert found("abcdef") == [session]


def test_lists_are_filtered_by_columns_and_filters(admin_client: Client) -> None:
    for address in (
        "contextd/detachedcall/?status__exact=working&principal__startswith=user",
        "skills/skill/?project__isnull=True&tag=auth&name=deploy",
        "contexts/auditentry/?context=default&at__gte=2026-01-01T00:00Z",
    ):
        assert admin_client.get(f"/admin/{address}").status_code == 200

"""People find, read, correct and delete remediations in the admin."""

from typing import Any

import pytest
from django.test import Client

from remediations.models import Remediation
from tests.admin import messages_of
from tests.conftest import Call
from tests.remediations.conftest import Save

LIST = "/admin/remediations/remediation/"

pytestmark = pytest.mark.django_db(transaction=True)


def shown(client: Client, **query: str) -> list[str]:
    page: Any = client.get(LIST, query)
    return [remediation.error_message for remediation in page.context["cl"].queryset]


def edit(client: Client, pk: str, **fields: str) -> Any:
    form = {
        "error_message": "one",
        "error_type": "Error",
        "stack_trace": "",
        "solution": "fix",
        "context": "{}",
        "tags": "",
        "severity": "",
        **fields,
    }
    return client.post(f"{LIST}{pk}/change/", form, follow=True)


def test_they_are_listed_and_filtered(admin_client: Client, save: Save) -> None:
    save("shared", tags=["a"], severity="high")
    save("blog", project_path="/w/blog", tags=["a", "b"])
    blog = str(Remediation.objects.get(error_message="blog").project_id)

    assert shown(admin_client) == ["blog", "shared"]
    assert shown(admin_client, project__id__exact=blog) == ["blog"]
    assert shown(admin_client, project__isnull="True") == ["shared"]
    assert shown(admin_client, severity__exact="high") == ["shared"]
    assert shown(admin_client, tag="b") == ["blog"]
    assert b"a (2)" in admin_client.get(LIST).content


def test_the_search_box_ranks_by_meaning(admin_client: Client, save: Save) -> None:
    save("the user may not sign in")
    save("the disk of the build container is full")

    assert shown(admin_client, q="no space left on device")[0].startswith("the disk")


def test_an_edited_one_is_found_by_its_new_words(
    admin_client: Client, save: Save, call: Call
) -> None:
    pk = save("one", severity="low")

    edit(admin_client, pk, error_message="the orchard floods", tags="x\ny, z", context='{"a": "b"}')

    (match,) = call("remediation_search", error_message="orchard floods").results
    assert (match.error_message, match.tags) == ("the orchard floods", ["x", "y, z"])
    assert match.context == {"a": "b"}
    assert Remediation.objects.get().severity == ""


def test_a_credential_typed_in_the_form_is_replaced_and_said(
    admin_client: Client, save: Save
) -> None:
    pk = save("one")

    page = edit(admin_client, pk, solution="postgresql://app:s3cretpass@db/shop")

    assert "s3cretpass" not in Remediation.objects.get().solution
    assert "1 credentials were replaced before saving" in messages_of(page)


def test_what_breaks_a_rule_is_not_saved_and_said(admin_client: Client, save: Save) -> None:
    pk = save("one")

    page = edit(admin_client, pk, error_message="two", context="[1]")

    assert Remediation.objects.get().error_message == "one"
    assert b"context must be an object" in page.content
    assert b"two</textarea>" in page.content


def test_deleted_ones_are_gone_from_search(admin_client: Client, save: Save, call: Call) -> None:
    first, second, kept = save("zeppelin burns"), save("zeppelin leaks"), save("zeppelin sinks")

    admin_client.post(f"{LIST}{first}/delete/", {"post": "yes"})
    admin_client.post(
        LIST, {"action": "delete_selected", "_selected_action": [second], "post": "yes"}
    )

    found = call("remediation_search", error_message="zeppelin", min_score=0)
    assert [match.id for match in found.results] == [kept]


def test_nothing_can_be_added_by_hand(admin_client: Client, transactional_db: None) -> None:
    assert admin_client.get(f"{LIST}add/").status_code == 403


def test_each_is_shown_whole(admin_client: Client, save: Save) -> None:
    pk = save("one", stack_trace="at x", project_path="/w/blog")

    page = admin_client.get(f"{LIST}{pk}/change/").content.decode()

    assert all(word in page for word in ("one", "at x", "blog", "tester"))

"""People find, read, correct and delete checkpoints in the admin."""

from typing import Any

import pytest
from django.contrib.admin.models import DELETION, LogEntry
from django.test import Client

from checkpoints.models import Checkpoint
from contextd import changes
from contextd.bus import Change
from contexts.models import AuditEntry, Context
from tests.admin import messages_of
from tests.checkpoints.conftest import Save
from tests.conftest import Call

LIST = "/admin/checkpoints/checkpoint/"

pytestmark = pytest.mark.django_db(transaction=True)


def shown(client: Client, **query: str) -> list[str]:
    page: Any = client.get(LIST, query)
    return [checkpoint.summary for checkpoint in page.context["cl"].queryset]


def edit(client: Client, pk: str, **fields: str) -> Any:
    form = {"summary": "one", "description": "", "context": "{}", "tags": "", **fields}
    return client.post(f"{LIST}{pk}/change/", form, follow=True)


def test_they_are_listed_and_filtered_by_project_and_tag(admin_client: Client, save: Save) -> None:
    save("shop", tags=["a"])
    save("blog", project_path="/w/blog", tags=["a", "b"])
    blog = Checkpoint.objects.get(summary="blog").project_id

    assert shown(admin_client) == ["blog", "shop"]
    assert shown(admin_client, project__id__exact=str(blog)) == ["blog"]
    assert shown(admin_client, tag="b") == ["blog"]
    assert b"a (2)" in admin_client.get(LIST).content


def test_the_search_box_ranks_by_meaning(admin_client: Client, save: Save) -> None:
    save("Users can now sign in with their Google account")
    save("Raised the memory limit of the build container")

    assert shown(admin_client, q="authentication")[0].startswith("Users")


def test_the_order_of_a_column_can_be_asked_for(admin_client: Client, save: Save) -> None:
    save("b sign in page")
    save("a sign in page")

    assert shown(admin_client, q="sign in", o="1")[0].startswith("a")


def test_an_edited_one_is_found_by_its_new_words(
    admin_client: Client, save: Save, call: Call
) -> None:
    pk = save("one")

    edit(
        admin_client, pk, summary="The orchard fence", tags="x\ny, z", context='{"branch": "main"}'
    )

    match = call("checkpoint_search", query="orchard", top_k=1).results[0]
    assert (match.summary, match.tags, match.context) == (
        "The orchard fence",
        ["x", "y, z"],
        {"branch": "main"},
    )


def test_a_credential_typed_in_the_form_is_replaced_and_said(
    admin_client: Client, save: Save
) -> None:
    pk = save("one")

    page = edit(admin_client, pk, description="postgresql://app:s3cretpass@db/shop")

    assert "s3cretpass" not in Checkpoint.objects.get().description
    assert "1 credentials were replaced before saving" in messages_of(page)


def test_what_breaks_a_rule_is_not_saved_and_said(admin_client: Client, save: Save) -> None:
    pk = save("one")

    page = edit(admin_client, pk, summary="two", context="[1]")

    assert Checkpoint.objects.get().summary == "one"
    assert b"context must be an object" in page.content
    assert b'value="two"' in page.content


def test_the_history_shows_what_was_stored_and_not_what_was_typed(
    admin_client: Client, save: Save
) -> None:
    pk = save("one")

    page = edit(admin_client, pk, summary="ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8")

    assert "a1B2c3D4e5" not in LogEntry.objects.get().object_repr
    assert not any("a1B2c3D4e5" in message for message in messages_of(page))


def test_what_only_the_call_can_refuse_is_told_and_not_an_error_page(
    admin_client: Client, save: Save
) -> None:
    pk = save("one")
    grows = "x" * 470 + " postgresql://a:s3cr3t@db/x"

    page = edit(admin_client, pk, summary=grows)

    assert "Not done: summary has" in page.content.decode()
    assert f'value="{grows}"' in page.content.decode()
    assert Checkpoint.objects.get().summary == "one"


def test_many_are_deleted_in_one_step(
    admin_client: Client, save: Save, call: Call, settings: Any
) -> None:
    pks = [save(f"zeppelin {number}") for number in range(30)]
    settings.CONTEXTD_RATE_LIMITS = True

    admin_client.post(LIST, {"action": "delete_selected", "_selected_action": pks, "post": "yes"})

    assert not Checkpoint.objects.exists()
    assert call("checkpoint_search", query="zeppelin").results == []


def test_that_many_were_deleted_is_recorded_once_and_told(admin_client: Client, save: Save) -> None:
    pks = [save("one"), save("two")]
    AuditEntry.objects.all().delete()
    told: list[changes.Announcement] = []
    end = changes.subscribe(told.append)

    admin_client.post(LIST, {"action": "delete_selected", "_selected_action": pks, "post": "yes"})
    end()

    assert [(entry.operation, entry.door) for entry in AuditEntry.objects.all()] == [
        ("checkpoints:checkpoint_delete", "admin")
    ]
    assert Change(kind="resources") in told
    assert LogEntry.objects.filter(action_flag=DELETION).count() == len(pks)


def test_who_may_not_delete_by_call_deletes_nothing_here_either(
    admin_client: Client, save: Save
) -> None:
    pks = [save("one"), save("two")]
    Context.objects.filter(name="default").update(tools=["checkpoint_save"])
    chosen = {"action": "delete_selected", "_selected_action": pks, "post": "yes"}

    page = admin_client.post(LIST, chosen, follow=True)
    admin_client.post(f"{LIST}{pks[0]}/delete/", {"post": "yes"})

    assert Checkpoint.objects.count() == len(pks)
    assert "does not contain the tool checkpoint_delete" in page.content.decode()
    assert not LogEntry.objects.exists()
    assert AuditEntry.objects.filter(operation__endswith="_delete", was_allowed=False).exists()


def test_deleted_ones_are_gone_from_search(admin_client: Client, save: Save, call: Call) -> None:
    first, second, kept = save("zeppelin one"), save("zeppelin two"), save("kept")

    admin_client.post(f"{LIST}{first}/delete/", {"post": "yes"})
    admin_client.post(
        LIST, {"action": "delete_selected", "_selected_action": [second], "post": "yes"}
    )

    found = call("checkpoint_search", query="zeppelin")
    assert [match.id for match in found.results] == [kept]


def test_nothing_can_be_added_by_hand(admin_client: Client, transactional_db: None) -> None:
    assert admin_client.get(f"{LIST}add/").status_code == 403

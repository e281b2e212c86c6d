"""People name projects, give them folders and merge them in the admin."""

import pytest
from django.test import Client

from checkpoints.models import Checkpoint
from contextd.models import Project
from contextd.search.models import Passage
from tests.conftest import Call

pytestmark = pytest.mark.django_db(transaction=True)


def test_merging_keeps_the_oldest_with_everything_of_the_others(
    admin_client: Client, call: Call
) -> None:
    for path in ("/w/shop", "/x/shop"):
        call("checkpoint_save", summary=f"Zeppelin in {path}", project_path=path)
    oldest = Project.objects.order_by("created_at")[0]

    admin_client.post(
        "/admin/contextd/project/",
        {
            "action": "merge_selected",
            "_selected_action": list(Project.objects.values_list("pk", flat=True)),
        },
    )

    assert Project.objects.get() == oldest
    assert {checkpoint.project for checkpoint in Checkpoint.objects.all()} == {oldest}
    found = call("checkpoint_search", query="zeppelin", project_path="/x/shop")
    assert len(found.results) == 2


def test_filters_tell_projects_of_one_name_apart(admin_client: Client) -> None:
    ours = Project.objects.create(name="shop", git_remote="github.com/acme/shop")
    theirs = Project.objects.create(name="shop")

    for kind in ("checkpoints/checkpoint", "remediations/remediation", "skills/skill"):
        page = admin_client.get(f"/admin/{kind}/").content.decode()
        assert f"shop ({ours.git_remote})" in page
        assert f"shop ({theirs.pk})" in page


def test_projects_that_are_gone_are_not_merged(admin_client: Client, call: Call) -> None:
    call("checkpoint_save", summary="one", project_path="/w/shop")
    shop = Project.objects.get()

    for chosen in ([shop.pk + 1], [shop.pk, shop.pk + 1]):
        form = {"action": "merge_selected", "_selected_action": chosen}
        page = admin_client.post("/admin/contextd/project/", form, follow=True)

        assert page.status_code == 200
        assert "Choose two projects or more" in page.content.decode()
    assert Project.objects.get() == shop


def test_a_folder_can_be_given_to_a_project(admin_client: Client, call: Call) -> None:
    call("checkpoint_save", summary="one", project_path="/w/shop")
    shop = Project.objects.get()

    admin_client.post(
        f"/admin/contextd/project/{shop.pk}/change/",
        {
            "name": "Shop",
            "git_remote": "",
            "paths-TOTAL_FORMS": 2,
            "paths-INITIAL_FORMS": 1,
            "paths-0-id": shop.paths.get().pk,
            "paths-0-project": shop.pk,
            "paths-0-path": "/w/shop",
            "paths-1-project": shop.pk,
            "paths-1-path": "/srv/shop",
        },
    )

    assert call("checkpoint_list", project_path="/srv/shop/api").total == 1


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"git_remote": "no remote"}, "Give it as host/path"),
        ({"paths-0-path": "relative/../x/"}, "It must be an absolute path."),
    ],
)
def test_what_no_lookup_would_find_is_refused(
    admin_client: Client, call: Call, wrong: dict[str, str], sentence: str
) -> None:
    call("checkpoint_save", summary="one", project_path="/w/shop")
    shop = Project.objects.get()
    form = {
        "name": "Shop",
        "git_remote": "",
        "paths-TOTAL_FORMS": 1,
        "paths-INITIAL_FORMS": 1,
        "paths-0-id": shop.paths.get().pk,
        "paths-0-project": shop.pk,
        "paths-0-path": "/w/shop",
    }

    page = admin_client.post(f"/admin/contextd/project/{shop.pk}/change/", {**form, **wrong})

    assert sentence in page.content.decode()
    assert shop.paths.get().path == "/w/shop"


@pytest.mark.parametrize(
    ("typed", "remote"),
    [
        ("https://ann:Tr0ub4dor@example.com/acme/shop.git", "example.com/acme/shop"),
        ("gitlab/acme/shop", "gitlab/acme/shop"),
    ],
)
def test_a_remote_is_stored_as_it_is_compared_and_without_its_password(
    admin_client: Client, call: Call, typed: str, remote: str
) -> None:
    call("checkpoint_save", summary="one", project_path="/w/shop")
    shop = Project.objects.get()

    admin_client.post(
        f"/admin/contextd/project/{shop.pk}/change/",
        {
            "name": "Shop",
            "git_remote": typed,
            "paths-TOTAL_FORMS": 0,
            "paths-INITIAL_FORMS": 0,
        },
    )

    assert Project.objects.get().git_remote == remote


def test_deleting_tells_how_much_goes_with_it(admin_client: Client, call: Call) -> None:
    for number in range(3):
        call("checkpoint_save", summary=f"Zeppelin {number}", project_path="/w/shop")
    address = f"/admin/contextd/project/{Project.objects.get().pk}/delete/"

    asked = admin_client.get(address).content.decode()
    assert "<li>3 checkpoints</li>" in asked
    assert "passage" not in asked

    admin_client.post(address, {"post": "yes"})
    assert not Project.objects.exists()
    assert not Checkpoint.objects.exists()
    assert not Passage.objects.exists()

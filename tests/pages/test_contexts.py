"""Who may enter several contexts chooses the one to look from."""

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from checkpoints.models import Checkpoint
from contextd import logins
from contextd.models import Project
from contexts.models import Context, Grant
from skills.models import Skill

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann(client: Client) -> User:
    """Logged in; of a group that may read in the context `team`, which holds one project."""
    ann = User.objects.create_user("ann")
    group = Group.objects.create(name="team")
    ann.groups.add(group)
    team = Context.objects.create(name="team", tools=["*"])
    team.projects.set([Project.objects.create(name="shop")])
    Grant.objects.create(context=team, group=group, permission="read")
    Context.objects.create(name="others", tools=["*"])
    client.force_login(ann)
    return ann


def choose(client: Client, name: str) -> int:
    return client.post("/dashboard/context/", {"context": name}).status_code


def test_the_pages_show_what_the_chosen_context_gives(client: Client, ann: User) -> None:
    mine, other = (
        Checkpoint.objects.create(project=project, summary="Began", token_count=1)
        for project in (Project.objects.get(name="shop"), Project.objects.create(name="other"))
    )

    assert choose(client, "team") == 302
    page = client.get("/dashboard/").content.decode()
    assert "<option selected>team</option>" in page
    assert "<option>default</option>" in page
    assert "others" not in page
    assert client.get(f"/dashboard/records/checkpoint/{mine.pk}/").status_code == 200
    assert client.get(f"/dashboard/records/checkpoint/{other.pk}/").status_code == 404


def test_a_login_selects_a_context_that_the_user_may_enter(client: Client, ann: User) -> None:
    assert logins.CONTEXT not in client.session  # `default`
    Context.objects.filter(name="default").update(is_open=False)
    client.force_login(ann)

    assert client.session[logins.CONTEXT] == "team"
    assert client.get("/dashboard/").status_code == 200


def test_the_data_are_those_of_the_chosen_context_too(client: Client, ann: User) -> None:
    for project in (Project.objects.get(name="shop"), Project.objects.create(name="other")):
        Checkpoint.objects.create(project=project, summary=project.name, token_count=1)
    choose(client, "team")

    def titles(**headers: str) -> list[str]:
        page = client.get("/api/dashboard/records/checkpoint/", headers=headers).json()
        return [row["title"] for row in page["results"]]

    assert titles() == ["shop"]
    assert titles(**{"X-MCP-Context": "default"}) == ["other", "shop"]


def test_drafts_are_for_staff(client: Client, ann: User) -> None:
    Skill.objects.create(name="Drafted", slug="drafted", state="draft", token_count=1)

    def count() -> int:
        return len(client.get("/api/dashboard/records/skill/").json()["results"])

    assert count() == 0
    User.objects.filter(pk=ann.pk).update(is_staff=True)
    assert count() == 1


def test_what_one_may_not_enter_cannot_be_chosen(client: Client, ann: User) -> None:
    assert choose(client, "others") == 404
    assert client.get("/dashboard/").context["context_name"] == "default"
    assert Client().post("/dashboard/context/", {"context": "team"}).status_code == 404


def test_whom_the_chosen_context_shuts_out_can_choose_another(client: Client, ann: User) -> None:
    choose(client, "team")
    Grant.objects.all().delete()

    refused = client.get("/dashboard/")
    assert refused.status_code == 403
    assert "<option>default</option>" in refused.content.decode()
    choose(client, "default")
    assert client.get("/dashboard/").status_code == 200


def test_an_admin_may_choose_any(admin_client: Client, ann: User) -> None:
    assert choose(admin_client, "others") == 302
    assert admin_client.get("/dashboard/").status_code == 200

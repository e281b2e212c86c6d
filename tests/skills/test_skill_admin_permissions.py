"""Curators of skills need the permission of their context, and what they do is recorded."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from contexts.models import AuditEntry, Context, Grant
from skills.models import Skill, SkillVersion, State
from tests.admin import messages_of
from tests.contexts.conftest import make_project
from tests.skills.conftest import Create
from tests.skills.packages import document, zipped
from tests.skills.test_skill_admin import LIST, act, edit, upload

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ann() -> User:
    ann = User.objects.create_user("ann", is_staff=True)
    ann.user_permissions.set(Permission.objects.filter(content_type__app_label="skills"))
    return ann


@pytest.fixture
def curator(ann: User) -> Client:
    """Ann, whose context permits only to read."""
    Context.objects.update(is_open=False)
    Grant.objects.create(context=Context.objects.get(), user=ann, permission="read")
    client = Client()
    client.force_login(ann)
    return client


def permit(*projects: Any) -> None:
    """Let Ann execute everything, in these projects."""
    Grant.objects.update(permission="execute")
    Context.objects.update(all_projects=False)
    Context.objects.get().projects.set(projects)


def recorded() -> list[tuple[str, str]]:
    entries = AuditEntry.objects.filter(door="admin")
    return list(entries.order_by("pk").values_list("operation", "outcome"))


@pytest.mark.parametrize("action", ["publish", "retire", "take_back", "add_tag", "remove_tag"])
def test_an_action_needs_the_permission_of_the_context(
    curator: Client, create: Create, action: str
) -> None:
    pk = create("one", tags=["a"])
    Skill.objects.update(state=State.DRAFT if action == "publish" else State.PUBLISHED)
    before = Skill.objects.values().get()

    told = messages_of(act(curator, action, pk, tag="b" if action == "add_tag" else "a"))

    assert "Not done: " in told[0]
    assert Skill.objects.values().get() == before
    assert recorded() == [("skills:skill_update", "unauthorized")]


def test_the_state_field_needs_the_permission_of_the_context(
    curator: Client, create: Create
) -> None:
    pk = create("one")

    edit(curator, pk, state=State.RETIRED)

    assert Skill.objects.get().state == State.PUBLISHED


def test_an_import_needs_the_permission_of_the_context(curator: Client, create: Create) -> None:
    page = upload(curator, zipped({"one/SKILL.md": document("one")}))

    assert "Not done: " in messages_of(page)[0]
    assert not Skill.objects.exists()
    assert recorded() == [("skills:skill_create", "unauthorized")]


def test_an_import_needs_the_permission_to_update(curator: Client) -> None:
    permit()
    Context.objects.update(tools=["skill_create"])

    upload(curator, zipped({"one/SKILL.md": document("one")}))

    assert not Skill.objects.exists()


def test_refusing_a_proposal_needs_the_permission_of_the_context(
    curator: Client, create: Create
) -> None:
    skill = Skill.objects.get(pk=create("one"))
    proposal = SkillVersion.objects.get()
    proposal.pk, proposal.version, proposal.is_proposal = None, "1.0.1", True
    proposal.save()

    sent = {"refuse": "yes", "version": "1.0.1"}
    page = curator.post(f"{LIST}{skill.pk}/versions/", sent, follow=True)

    assert "Not done: " in messages_of(page)[0]
    assert SkillVersion.objects.filter(version="1.0.1").exists()


def test_skills_of_projects_that_the_context_does_not_hold_stay(
    curator: Client, create: Create
) -> None:
    own, other = create("own"), create("other", project_path="/w/secret")
    permit()

    told = messages_of(act(curator, "retire", own, other))
    act(curator, "add_tag", own, other, tag="a")
    edit(curator, other, state=State.RETIRED)

    assert told == ["Not other 1.0.0: the context 'default' does not hold it", "1 are retired now"]
    assert Skill.objects.get(name="other").state == State.PUBLISHED
    assert (Skill.objects.get(name="own").tags, Skill.objects.get(name="other").tags) == (["a"], [])
    assert recorded()[:2] == [("skills:skill_update", "ok"), ("skills:skill_update", "ok")]


def test_an_import_reaches_only_the_projects_of_the_context(curator: Client) -> None:
    secret = make_project("/w/secret")
    permit()

    page = upload(curator, zipped({"one/SKILL.md": document("one")}), project=str(secret.pk))

    assert "does not hold the project secret" in " ".join(messages_of(page))
    assert not Skill.objects.exists()

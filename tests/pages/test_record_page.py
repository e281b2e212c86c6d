"""A page for each record: what it says, what is like it, what happened to it, how it was used."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from checkpoints.models import Checkpoint
from contextd import search
from contextd.models import Project
from contextd.search.models import Passage
from contexts.models import Context
from pages import records
from repositories.models import Repository, SourceFile
from tests.analytics.conftest import Happened
from tests.conftest import Call
from threats.models import Threat
from troubleshoot.models import Pattern

MAX_QUERIES = 8


def text_of(page: Any) -> str:
    assert page.status_code == 200
    return " ".join(page.content.decode().split())


def address_of(kind: str, pk: Any) -> str:
    return f"/dashboard/records/{kind}/{pk}/"


def test_a_checkpoint_shows_what_it_says_and_where_it_is_edited(here: Client, call: Call) -> None:
    saved = call(
        "checkpoint_save",
        summary="Began <b>the parser</b>",
        description="First line\nsecond line",
        context={"branch": "main"},
        tags=["parser"],
        project_path="/w/shop",
    )

    page = text_of(here.get(address_of("checkpoint", saved.id)))

    assert "<h1>Began &lt;b&gt;the parser&lt;/b&gt;</h1>" in page
    assert '<dt>Description</dt><dd><pre tabindex="0">First line second line</pre>' in page
    assert "<dt>Branch</dt><dd>main</dd>" in page
    assert '<ul class="words"><li>parser</li></ul>' in page
    assert "<dt>Project</dt><dd>shop</dd>" in page
    assert "in the admin" not in page


def test_the_admin_is_linked_for_those_who_may_use_it(admin_client: Client, call: Call) -> None:
    saved = call("checkpoint_save", summary="Began the parser", project_path="/w/shop")
    file = make_file()

    def link(kind: str, pk: Any) -> list[str]:
        return re.findall(r'<a id="edit".*?</a>', text_of(admin_client.get(address_of(kind, pk))))

    url = f"/admin/checkpoints/checkpoint/{saved.id}/change/"
    assert link("checkpoint", saved.id) == [f'<a id="edit" href="{url}">Edit in the admin</a>']
    assert [one.rpartition(">View")[2] for one in link("file", file.pk)] == [" in the admin</a>"]
    User.objects.update(is_superuser=False)
    assert link("checkpoint", saved.id) == []


def test_every_kind_of_record_has_a_page(here: Client, call: Call) -> None:
    records = {**saved_by_assistants(call), **kept_by_people()}
    records["file"] = (make_file().pk, "class Cart: ...")

    assert set(records) == {domain.name for domain in search.domains()}
    for kind, (pk, said) in records.items():
        page = text_of(here.get(address_of(kind, pk)))
        assert said in page, kind
        assert ('id="use"' in page) == (kind not in ("file", "pattern")), kind


def saved_by_assistants(call: Call) -> dict[str, tuple[Any, str]]:
    """By kind the id of a record, and what its page shows."""
    fix = call("remediation_save", error_message="boom", error_type="Boom", solution="restart")
    skill = call(
        "skill_create",
        name="Deploy",
        description="How to deploy",
        content="# Deploy\nPush.",
        version="1.0.0",
        author="ann",
        category="deployment",
    )
    saved = call("checkpoint_save", summary="Began", project_path="/w/shop")
    return {
        "remediation": (fix.id, "restart"),
        "skill": (skill.id, "# Deploy Push."),
        "checkpoint": (saved.id, "Began"),
    }


def kept_by_people() -> dict[str, tuple[Any, str]]:
    pattern = Pattern.objects.create(
        key="own-1",
        title="Port in use",
        category="network",
        severity="low",
        cause="Another process listens",
        fix=[{"do": "Stop it", "run": "kill 1", "destructive": True}],
    )
    threat = Threat.objects.create(
        key="T-1", name="Open redirect", content={"mitigations": [{"id": "M1", "effort": "low"}]}
    )
    return {
        "pattern": (pattern.pk, "<dt>Destructive</dt><dd>yes</dd>"),
        "threat": (threat.pk, "<dt>Effort</dt><dd>low</dd>"),
    }


def make_file() -> SourceFile:
    repository = Repository.objects.create(
        project=Project.objects.get(), path="/w/shop", max_file_size=1
    )
    file = SourceFile.objects.create(
        repository=repository,
        path="shop/cart.py",
        language="python",
        size=10,
        symbols=["Cart"],
        modified_at=repository.created_at,
    )
    prepared = search.cut("shop/cart.py", "class Cart: ...")
    search.store("file", file.pk, repository.project_id, prepared)
    return file


def test_it_tells_who_did_what_and_when(admin_client: Client, counted: Call) -> None:
    skill = counted(
        "skill_create",
        name="Deploy",
        description="How to deploy",
        content="Push.",
        version="1.0.0",
        author="ann",
        category="deployment",
    )
    counted("skill_update", id=skill.id, content="Pull, then push.", note="pull first")

    page = admin_client.get(address_of("skill", skill.id))

    history = [(one.who, one.what, one.note) for one in page.context["record"].history]
    assert history[0] == ("tester", "Version 1.0.1", "pull first")
    assert ("tester", "Version 1.0.0", "") in history


def test_edits_in_the_admin_have_the_name_of_the_user(
    admin_client: Client, admin_user: User, counted: Call
) -> None:
    saved = counted("checkpoint_save", summary="Began", project_path="/w/shop")
    edited = {"summary": "Went on", "description": "", "context": "{}", "tags": ""}
    admin_client.post(f"/admin/checkpoints/checkpoint/{saved.id}/change/", edited)

    record = admin_client.get(address_of("checkpoint", saved.id)).context["record"]

    newest = record.history[0]
    assert (newest.who, newest.what) == (admin_user.username, "Change")
    assert "Summary" in newest.note


def test_it_tells_how_it_was_used(here: Client, counted: Call) -> None:
    fix = {"error_message": "KeyError: 'price'", "error_type": "KeyError", "solution": "Set it"}
    saved = counted("remediation_save", **fix)
    counted("remediation_search", error_message="KeyError: 'price'")
    counted("remediation_get", id=saved.id)
    counted("remediation_feedback", id=saved.id, outcome="did_not_work")

    use = here.get(address_of("remediation", saved.id)).context["record"].use

    assert (use.found, use.used, use.did_not_help) == (1, 2, 1)
    assert [call.operation for call in use.calls] == ["remediation_feedback", "remediation_get"]


@pytest.mark.parametrize(("most", "told"), [(2, "The first 2 passages"), (3, ">3 passages")])
def test_passages_that_are_left_out_are_told(
    here: Client, call: Call, monkeypatch: pytest.MonkeyPatch, most: int, told: str
) -> None:
    saved = call("checkpoint_save", summary="Began", project_path="/w/shop")
    passage = Passage.objects.get(record_id=saved.id)
    for ordinal in (1, 2):
        passage.pk, passage.ordinal = None, ordinal
        passage.save()
    monkeypatch.setattr(records, "MAX_PASSAGES", most)

    assert told in text_of(here.get(address_of("checkpoint", saved.id)))


def test_calls_of_others_are_counted_but_not_shown(client: Client, happened: Happened) -> None:
    ann = User.objects.create_user("ann")
    client.force_login(ann)
    shared = Checkpoint.objects.create(
        project=Project.objects.create(name="shop"), summary="Began", token_count=1
    )
    for principal in (f"user:{ann.pk}", "user:999"):
        happened("checkpoint_get", domain="checkpoint", used=shared.pk, principal=principal)

    use = client.get(f"/dashboard/records/checkpoint/{shared.pk}/").context["record"].use

    assert use.used == 2
    assert [call.principal for call in use.calls] == [f"user:{ann.pk}"]


def test_what_says_something_like_it_is_related(here: Client, call: Call) -> None:
    saved = call("checkpoint_save", summary="Payment webhook fails", project_path="/w/shop")
    call("checkpoint_save", summary="Payment webhook mended", project_path="/w/shop")
    call("remediation_save", error_message="Payment webhook", error_type="E", solution="Retry")

    page = here.get(f"{address_of('checkpoint', saved.id)}related/", headers={"HX-Request": "true"})

    text = text_of(page)
    assert "Payment webhook mended" in text
    assert "Payment webhook fails" not in text
    assert {group.domain.name for group in page.context["groups"]} == {"checkpoint", "remediation"}
    assert "<html" not in text
    assert "<h1>Related</h1>" in text_of(here.get(f"{address_of('checkpoint', saved.id)}related/"))


@pytest.mark.django_db
def test_what_one_may_not_see_is_not_there(client: Client) -> None:
    ann = User.objects.create_user("ann", is_staff=True)
    seen, hidden = (Project.objects.create(name=name) for name in ("seen", "hidden"))
    context = Context.objects.get(name="default")
    Context.objects.filter(pk=context.pk).update(all_projects=False)
    context.projects.set([seen])
    mine, other = (
        Checkpoint.objects.create(project=project, summary=project.name, token_count=1)
        for project in (seen, hidden)
    )
    client.force_login(ann)

    assert client.get(address_of("checkpoint", mine.pk)).status_code == 200
    refused = client.get(address_of("checkpoint", other.pk))
    assert (refused.status_code, b"Not found" in refused.content) == (404, True)
    assert client.get(f"{address_of('checkpoint', other.pk)}related/").status_code == 404
    Context.objects.filter(pk=context.pk).update(tools=["analytics_get"])
    assert client.get(address_of("checkpoint", mine.pk)).status_code == 404


@pytest.mark.django_db
def test_an_unknown_kind_is_reported(here: Client) -> None:
    page = here.get(address_of("recipe", 1))

    assert page.status_code == 404
    assert "there are: checkpoint, file" in page.content.decode()


def test_its_queries_are_few(here: Client, call: Call, django_assert_max_num_queries: Any) -> None:
    saved = call("checkpoint_save", summary="Began", project_path="/w/shop")
    here.get(address_of("checkpoint", saved.id))

    with django_assert_max_num_queries(MAX_QUERIES):
        here.get(address_of("checkpoint", saved.id))

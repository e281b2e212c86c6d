"""People find, read, correct, publish, compare, import and export skills in the admin."""

import io
import zipfile
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from contextd import pipeline
from contextd.callers import Caller
from skills import keeping, rendering
from skills.models import Skill, State
from skills.packages import Package, PackageFile
from tests.admin import messages_of
from tests.conftest import Call
from tests.skills.conftest import Create, skill_fields
from tests.skills.packages import FORMS, document, zipped

LIST = "/admin/skills/skill/"

pytestmark = pytest.mark.django_db(transaction=True)


def shown(client: Client, **query: str) -> list[str]:
    page: Any = client.get(LIST, query)
    return [skill.name for skill in page.context["cl"].queryset]


def edit(client: Client, pk: str, **fields: str) -> Any:
    skill = Skill.objects.get(pk=int(pk))
    inlines = {
        f"{prefix}-{name}": "0"
        for prefix in ("versions", "uses")
        for name in ("TOTAL_FORMS", "INITIAL_FORMS")
    }
    form = {
        **skill_fields(skill.name),
        "content": skill.content,
        "version": skill.version,
        "state": skill.state,
        "prerequisites": "",
        "expected_outcome": "",
        "tags": "\n".join(skill.tags),
        "metadata": "{}",
        "note": "",
        "opened": fields.get("opened") or opened(client, pk),
        **inlines,
        **fields,
    }
    return client.post(f"{LIST}{pk}/change/", form, follow=True)


def opened(client: Client, pk: str) -> str:
    """Return what the form tells of the text that it was opened with."""
    page: Any = client.get(f"{LIST}{pk}/change/")
    return str(page.context["adminform"].form["opened"].value())


def act(client: Client, action: str, *skills: str, tag: str = "") -> Any:
    form = {"action": action, "_selected_action": skills, "tag": tag}
    return client.post(LIST, form, follow=True)


def test_they_are_listed_and_filtered(admin_client: Client, create: Create) -> None:
    create("shared", tags=["a"])
    create("shop", project_path="/w/shop", category="release", tags=["a", "b"])
    Skill.objects.filter(name="shop").update(state=State.RETIRED, success_count=2)

    assert shown(admin_client) == ["shop", "shared"]
    assert shown(admin_client, category="release") == ["shop"]
    assert shown(admin_client, state__exact="published") == ["shared"]
    assert shown(admin_client, tag="b") == ["shop"]
    assert b"100% of 2" in admin_client.get(LIST).content


def test_the_search_box_ranks_by_meaning_and_finds_drafts(
    admin_client: Client, create: Create
) -> None:
    create("sign in", description="The user may not log on")
    create("free the disk", description="The disk of the build container is full")
    Skill.objects.update(state=State.DRAFT)

    assert shown(admin_client, q="no space left on device")[0] == "free the disk"


def test_an_edit_is_a_version_with_its_note(
    admin_client: Client, create: Create, call: Call
) -> None:
    pk = create("one")

    edit(admin_client, pk, content="the orchard floods", tags="x\ny z", note="shorter")

    (match,) = call("skill_search", query="orchard floods").results
    assert (match.content, match.tags, match.version) == (
        "the orchard floods",
        ["x", "y z"],
        "1.0.1",
    )
    newest = call("skill_history", id=pk).versions[0]
    assert (newest.note, newest.changed_by.startswith("user:")) == ("shorter", True)


def test_line_ends_of_browsers_change_nothing(
    admin_client: Client, create: Create, call: Call
) -> None:
    pk = create("one", content="  a\n\nb\n")

    edit(admin_client, pk, content="  a\r\n\r\nb\r\n")
    assert call("skill_get", id=pk).version == "1.0.0"


def test_an_edit_keeps_the_line_ends_of_the_file(admin_client: Client, warm_model: None) -> None:
    upload(admin_client, document("one", category="a").replace(b"\n", b"\r\n"))
    skill = Skill.objects.get()

    edit(admin_client, str(skill.pk), description=skill.description, author="", category="b")
    kept = keeping.package_of(skill, "1.0.1").raw_document
    assert kept == document("one", category="b").replace(b"\n", b"\r\n")


def test_the_version_can_be_raised(admin_client: Client, create: Create, call: Call) -> None:
    pk = create("one")

    edit(admin_client, pk, content="better", version="2.0.0")
    assert call("skill_get", id=pk).version == "2.0.0"


def test_what_others_did_since_the_page_was_opened_is_not_undone(
    admin_client: Client, create: Create, call: Call
) -> None:
    pk = create("one")
    former = opened(admin_client, pk)
    call("skill_update", id=pk, content="theirs")

    page = edit(admin_client, pk, content="mine", opened=former)
    assert "has changed since you opened this page" in page.content.decode()
    assert "mine" in page.content.decode()
    former = opened(admin_client, pk)
    act(admin_client, "retire", pk)
    page = edit(admin_client, pk, state="published", opened=former)
    assert "has changed since you opened this page" in page.content.decode()

    skill = Skill.objects.get()
    assert (skill.content, skill.state) == ("theirs", State.RETIRED)
    edit(admin_client, pk, content="mine")
    assert Skill.objects.get().content == "mine"


def test_what_was_typed_stays_when_it_is_refused(admin_client: Client, create: Create) -> None:
    create("one")
    pk = create("two")

    page = edit(admin_client, pk, name="One", content="typed at length").content.decode()
    assert "Not done: a skill named &#x27;one&#x27; exists already" in page
    assert "typed at length" in page


def test_what_breaks_a_rule_is_not_saved_and_said(admin_client: Client, create: Create) -> None:
    pk = create("one")

    page = edit(admin_client, pk, content="new", version="2", tags="a, b")
    assert b"version must be a semantic version" in page.content
    assert b"must be one label" in page.content
    assert Skill.objects.get().version == "1.0.0"


def test_a_draft_is_published_alone_and_many_at_once(
    admin_client: Client, call: Call, create: Create, reviewed: Caller
) -> None:
    drafts = [
        pipeline.call("skill_create", skill_fields(name), reviewed).id  # type: ignore[attr-defined]
        for name in "abc"
    ]
    assert call("skill_list").total == 0

    edit(admin_client, drafts[0], state="published")
    assert [skill.name for skill in call("skill_list").skills] == ["a"]
    assert call("skill_get", id=drafts[0]).version == "1.0.0"

    assert messages_of(act(admin_client, "publish", *drafts)) == ["2 are published now"]
    assert call("skill_list").total == 3
    act(admin_client, "retire", drafts[1])
    act(admin_client, "take_back", drafts[2])
    assert [skill.name for skill in call("skill_list").skills] == ["a"]
    assert sorted(Skill.objects.values_list("state", flat=True)) == [
        "draft",
        "published",
        "retired",
    ]


def test_many_are_tagged_at_once(admin_client: Client, call: Call, create: Create) -> None:
    first, second = create("a", tags=["x"]), create("b")

    act(admin_client, "add_tag", first, second, tag=" team ")
    act(admin_client, "remove_tag", first, second, tag="x")

    tags = {skill.name: skill.tags for skill in call("skill_list").skills}
    assert tags == {"a": ["team"], "b": ["team"]}
    notes = [version.note for version in call("skill_history", id=first).versions]
    assert notes == ["no longer tagged x", "tagged team", ""]
    logged = LogEntry.objects.filter(object_id=first).order_by("pk")
    assert [entry.get_change_message() for entry in logged] == notes[1::-1]
    assert [one.version for one in call("skill_history", id=second).versions] == ["1.0.1", "1.0.0"]
    nothing_typed = act(admin_client, "add_tag", first)
    assert messages_of(nothing_typed) == ["Type the tag next to the action"]
    assert "must be one label" in messages_of(act(admin_client, "add_tag", first, tag="a,b"))[0]


def test_one_that_cannot_be_tagged_does_not_stop_the_others(
    admin_client: Client, create: Create
) -> None:
    full = create("full", tags=[f"t{number}" for number in range(20)])
    first, last = create("a"), create("b")

    told = messages_of(act(admin_client, "add_tag", full, first, last, tag="x"))
    assert told[-1] == "2 are tagged x now"
    assert [message.partition(":")[0] for message in told[:-1]] == ["Not full 1.0.0"]
    assert Skill.objects.filter(tags__contains=["x"]).count() == 2


def test_rates_of_single_calls_do_not_stop_many(
    admin_client: Client, create: Create, settings: Any
) -> None:
    many = [create(f"skill {'x' * (number + 1)}") for number in range(25)]
    settings.CONTEXTD_RATE_LIMITS = True

    assert messages_of(act(admin_client, "add_tag", *many, tag="x")) == ["25 are tagged x now"]


def test_versions_stand_side_by_side_and_one_is_made_current(
    admin_client: Client, call: Call, create: Create
) -> None:
    pk = create("one", content="first line\n<script>alert(1)</script>")
    call("skill_update", id=pk, content="second line")
    page = f"{LIST}{pk}/versions/"

    compared = admin_client.get(page, {"from": "1.0.1", "to": "1.0.0"}).content.decode()
    assert '<td class="former">second line</td>' in compared
    assert '<td class="latter">first line</td>' in compared
    assert "<script>alert" not in compared
    assert "Make 1.0.0 current" in compared
    restored = admin_client.post(page, {"version": "1.0.0"}, follow=True)
    assert messages_of(restored) == ["The skill is now version 1.0.2"]
    assert call("skill_get", id=pk).content.startswith("first line")
    again = admin_client.post(page, {"version": "1.0.0"}, follow=True)
    assert messages_of(again) == ["Nothing changed, so there is no new version."]
    refused = admin_client.post(page, {"version": "9.0.0"}, follow=True)
    assert "has no version" in messages_of(refused)[0]
    assert admin_client.get(f"{LIST}999/versions/").status_code == 403


def test_who_uses_it_is_shown(admin_client: Client, call: Call, create: Create) -> None:
    pk = create("one")
    call("skill_apply", id=pk, success=True)

    assert b"tester" in admin_client.get(f"{LIST}{pk}/change/").content
    assert b"tester" in admin_client.get("/admin/skills/skilluse/", {"q": "one"}).content


def test_markdown_is_shown_without_what_could_run(admin_client: Client) -> None:
    content = "# Hi\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))\n\n|a|\n|-|\n|b|\n"
    html = admin_client.post(f"{LIST}preview/", {"content": content}).content.decode()

    assert "<h1>Hi</h1>" in html
    assert "<td>b</td>" in html
    assert "<script" not in html
    assert "href" not in html
    assert "![" not in rendering.as_html("![x](https://spy.example/x.png)")
    assert "spy" not in rendering.as_html("![x](https://spy.example/x.png)")


def upload(client: Client, archive: bytes, **fields: str) -> Any:
    form = {"file": SimpleUploadedFile("skills.zip", archive), **fields}
    return client.post(f"{LIST}take-in/", form, follow=True)


def test_skills_come_in_and_go_out_as_archives(
    admin_client: Client, call: Call, warm_model: None
) -> None:
    files = {f"pdf-forms/{path}": content for path, content in FORMS.items()}
    page = upload(admin_client, zipped({**files, "bad/SKILL.md": document("good")}), note="v1")

    told = messages_of(page)
    assert told[0] == "refused: bad"
    assert "must be that of its folder" in told[1]
    assert told[2] == "new: pdf-forms 1.4.0"
    (skill,) = call("skill_list").skills
    assert call("skill_history", id=skill.id).versions[0].note == "v1"
    answer = act(admin_client, "export_as_archive", skill.id)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files
    assert "it is neither a readable zip archive" in upload(admin_client, b"text").content.decode()


def test_a_credential_comes_in_only_when_that_is_ticked(
    admin_client: Client, call: Call, warm_model: None
) -> None:
    leaking = document("one") + b"postgresql://app:s3cretpass@db/shop\n"

    told = messages_of(upload(admin_client, leaking))
    assert told[0] == "refused: ."
    assert "SKILL.md, line 7, looks like a credential" in told[1]
    assert call("skill_list").total == 0
    assert messages_of(upload(admin_client, leaking, allow_credentials="on"))[0] == "new: one 1.0.0"


def test_a_document_comes_in_by_itself(admin_client: Client, call: Call, warm_model: None) -> None:
    assert messages_of(upload(admin_client, document("one"))) == ["new: one 1.0.0"]
    assert "must begin with front matter" in str(messages_of(upload(admin_client, b"---\nx")))
    assert [skill.name for skill in call("skill_list").skills] == ["one"]


def test_staff_without_permission_may_not(client: Client, create: Create) -> None:
    pk = create("one")
    User.objects.create_user("sam", password="sam-s-secret", is_staff=True)
    client.login(username="sam", password="sam-s-secret")

    assert client.get(f"{LIST}take-in/").status_code == 403
    assert upload(client, zipped({})).status_code == 403
    assert client.get(f"{LIST}{pk}/versions/").status_code == 403
    assert client.post(f"{LIST}{pk}/versions/", {"version": "1.0.0"}).status_code == 403
    assert client.get("/admin/skills/skilluse/").status_code == 403


def test_deleted_ones_are_gone_from_search(
    admin_client: Client, call: Call, create: Create
) -> None:
    first, second, kept = create("zeppelin a"), create("zeppelin b"), create("zeppelin c")

    admin_client.post(f"{LIST}{first}/delete/", {"post": "yes"})
    admin_client.post(
        LIST,
        {"action": "delete_selected", "_selected_action": [second], "post": "yes", "tag": ""},
    )

    assert [match.id for match in call("skill_search", query="zeppelin").results] == [kept]


def package(text: str, **files: bytes) -> Package:
    others = (PackageFile(path, content) for path, content in files.items())
    return Package((PackageFile("SKILL.md", text.encode()), *others))


def test_what_differs_is_shown_in_time_however_long_it_is() -> None:
    before = "\n".join(f"Step {n}: check that service {n} answers, then go on" for n in range(900))
    after = before.replace("check that service", "verify that server").replace("Step 5:", "5.", 1)
    compared = rendering.compare(
        package(f"head\n{before}", a=b"1", b=b"1"), package(f"head\n{after}", b=b"2", c=b"")
    )

    assert compared.files == ["c is new", "a is gone", "b has changed"]
    assert [row.kind for row in compared.rows] == ["equal", *["replace"] * 900]
    assert compared.rows[6].latter == "5. verify that server 5 answers, then go on"
    assert (compared.rows[6].former_number, compared.rows[6].latter_number) == (7, 7)


def test_lines_that_stay_are_left_out() -> None:
    text = "\n".join(map(str, range(100)))
    rows = rendering.compare(package(text), package(f"{text}\nlast".replace("10\n", "", 1))).rows

    assert [row.former for row in rows if row.kind == "delete"] == ["10"]
    assert [row.latter for row in rows if row.kind == "insert"] == ["last"]
    assert [row.kind for row in rows].count("gap") == 1
    assert len(rows) == 3 + 1 + 3 + 1 + 3 + 1

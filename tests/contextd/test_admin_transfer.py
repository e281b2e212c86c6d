"""What people curate goes out as CSV and JSON, and comes back in, whole or not at all."""

import csv
import io
import json
import time

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client

from checkpoints.models import Checkpoint
from contextd import pipeline, search
from contextd.admin import files
from contextd.callers import Caller
from contextd.search.models import Passage
from contexts.models import AuditEntry
from remediations.models import Remediation
from skills.models import Skill
from tests.conftest import Call
from tests.contextd.transfer import FORMATS, exported, mistakes, preview, take_in

CHECKPOINTS = "/admin/checkpoints/checkpoint/"
REMEDIATIONS = "/admin/remediations/remediation/"
SKILLS = "/admin/skills/skill/"
PATTERNS = "/admin/troubleshoot/pattern/"
AUTHORED = {"version": "1.0.0", "author": "ann", "category": "testing"}


@pytest.fixture
def call(db: None, caller: Caller, warm_model: None) -> Call:
    return lambda name, /, **arguments: pipeline.call(name, arguments, caller)


def audited() -> list[str]:
    return [entry.operation for entry in AuditEntry.objects.filter(door="admin")]


def as_csv(*rows: dict[str, str]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


@pytest.mark.parametrize("form", FORMATS)
def test_what_was_exported_can_be_imported(admin_client: Client, call: Call, form: str) -> None:
    call(
        "checkpoint_save",
        summary="=SUM(1) is no formula",
        description="two\nlines, 'quoted'\r\n",
        project_path="/w/shop",
        context={"branch": "main"},
        tags=["a", "b, c"],
    )
    call(
        "remediation_save",
        error_message="E: full",
        error_type="E",
        solution="- free it",
        project_path="/w/shop",
        severity="high",
    )
    files = {at: exported(admin_client, at, form) for at in (CHECKPOINTS, REMEDIATIONS)}
    before = [Checkpoint.objects.values().get(), Remediation.objects.values().get()]
    again = [take_in(admin_client, at, form, file) for at, file in files.items()]
    Checkpoint.objects.all().delete()
    Remediation.objects.all().delete()
    for at, file in files.items():
        take_in(admin_client, at, form, file)

    after = [Checkpoint.objects.values().get(), Remediation.objects.values().get()]
    new = {"id", "created_at", "updated_at", "created_by", "last_seen_at"}
    assert [{k: v for k, v in row.items() if k not in new} for row in before] == [
        {k: v for k, v in row.items() if k not in new} for row in after
    ]
    assert all("0 new, 0 updated, 0 deleted and 1 skipped" in told[0] for told in again)
    assert search.find("free", domain="remediation", projects=None, limit=5).hits


@pytest.mark.parametrize("form", FORMATS)
def test_a_record_of_no_project_that_comes_back_unchanged_is_skipped(
    admin_client: Client, call: Call, form: str
) -> None:
    call("remediation_save", error_message="E: full", error_type="E", solution="- free it")
    call("skill_create", name="Release", description="How to", content="Do", **AUTHORED)

    for address in (REMEDIATIONS, SKILLS):
        said = take_in(admin_client, address, form, exported(admin_client, address, form))

        assert "0 new, 0 updated, 0 deleted and 1 skipped" in said[0]


def test_a_long_json_file_is_read_in_the_time_it_is_long() -> None:
    """Counting lines from the start of the file for each row takes a minute for so many."""
    text = json.dumps([{"summary": "x" * 80, "tags": []} for _ in range(20_000)], indent=1)

    began = time.process_time()
    *_, last = files.json_rows(text)

    assert last[files.LINE] == 4 * 19_999 + 2
    assert time.process_time() - began < 5


def test_an_edited_file_changes_the_record_it_came_from(admin_client: Client, call: Call) -> None:
    pk = call("checkpoint_save", summary="Zeppelin", project_path="/w/shop").id
    row = next(csv.DictReader(io.StringIO(exported(admin_client, CHECKPOINTS, "csv").decode())))

    take_in(admin_client, CHECKPOINTS, "csv", as_csv({**row, "summary": "Submarine"}))
    elsewhere = {**row, "summary": "From elsewhere", "created_at": "2020-01-01T00:00:00+00:00"}
    take_in(admin_client, CHECKPOINTS, "csv", as_csv(elsewhere))

    assert Checkpoint.objects.get(pk=int(pk)).summary == "Submarine"
    assert Checkpoint.objects.exclude(pk=int(pk)).get().summary == "From elsewhere"
    assert audited() == ["checkpoints:checkpoint_save"] * 2
    history = LogEntry.objects.filter(object_id=pk).get()
    assert history.user.username == "admin"


def test_a_mistake_names_its_line_and_field_and_nothing_is_written(
    admin_client: Client, call: Call
) -> None:
    good = {"summary": "two\nlines", "project_path": "/w/shop", "tags": "", "context": "{}"}
    bad = {"summary": "", "project_path": "w/shop", "tags": "", "context": "{}"}
    worse = {**good, "tags": "a, b"}
    page = preview(admin_client, CHECKPOINTS, "csv", as_csv(good, bad, worse))

    assert mistakes(page) == [
        "Line 4: summary is required",
        "Line 4: project_path must be an absolute path",
        'Line 5: tags must be JSON, such as ["one", "two"]',
    ]
    assert "Line 4" in page.content.decode()
    assert not Checkpoint.objects.exists()
    assert not Passage.objects.exists()


def test_every_mistake_of_a_row_is_shown(admin_client: Client) -> None:
    bad = {
        "summary": "token ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "project_path": "relative",
        "tags": "a, b",
        "context": "{bad",
    }
    page = preview(admin_client, CHECKPOINTS, "csv", as_csv(bad, {**bad, "summary": ""}))

    of_each = [
        'context must be JSON, such as {"branch": "main"}',
        'tags must be JSON, such as ["one", "two"]',
    ]
    path = "project_path must be an absolute path"
    assert [mistake.partition("; remove")[0] for mistake in mistakes(page)] == [
        *(f"Line 2: {text}" for text in of_each),
        "Line 2: summary contains a credential (github-token)",
        f"Line 2: {path}",
        *(f"Line 3: {text}" for text in of_each),
        "Line 3: summary is required",
        f"Line 3: {path}",
    ]
    assert not Checkpoint.objects.exists()


def test_every_mistake_in_the_form_of_a_file_is_shown(admin_client: Client) -> None:
    short = preview(admin_client, CHECKPOINTS, "csv", b"summary,tags\nx\nx,[]\n1,2,3\n")
    columns = preview(admin_client, CHECKPOINTS, "csv", b"colour,summary,size\nred,x,5\n")
    no_rows = preview(admin_client, CHECKPOINTS, "json", b"[1,\n{},\n2]")

    assert "line 2 has 1 cells, the header 2; line 4 has 3 cells" in short.content.decode()
    assert "unknown column &#x27;colour&#x27;, &#x27;size&#x27;" in columns.content.decode()
    assert "line 1 is not an object; line 3 is not an object" in no_rows.content.decode()


def test_lines_are_told_of_json_too(admin_client: Client) -> None:
    rows = [{"summary": "one", "project_path": "/w"}, {"summary": 5, "project_path": "/w"}]
    page = preview(admin_client, CHECKPOINTS, "json", json.dumps(rows, indent=1).encode())

    assert mistakes(page) == ["Line 6: summary must be a valid string"]


@pytest.mark.parametrize(
    ("form", "content", "said"),
    [
        ("csv", b"summary,colour\nx,red\n", "unknown column"),
        ("csv", b"summary\nx,y\n", "line 2 has 2 cells, the header 1"),
        ("json", b"{}", "the file must be a list of objects"),
        ("json", b"[1]", "line 1 is not an object"),
        ("json", b"[\nnothing]", "the file is not JSON: Expecting value: line 2 column 1"),
        ("csv", b"\xff", "the correct format"),
        ("csv", b"", "file is empty"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(
    admin_client: Client, form: str, content: bytes, said: str
) -> None:
    page = preview(admin_client, CHECKPOINTS, form, content)

    assert said in page.content.decode()
    assert not Checkpoint.objects.exists()


WITH_CREDENTIAL = {
    "error_message": "E: refused",
    "error_type": "E",
    "solution": "postgresql://app:s3cretpass@db/shop",
    "context": '{"api_key": "abc123def"}',
}


def test_a_file_with_credentials_is_refused_and_told_where_they_are(admin_client: Client) -> None:
    clean = {**WITH_CREDENTIAL, "solution": "free it", "context": ""}
    page = preview(admin_client, REMEDIATIONS, "csv", as_csv(clean, WITH_CREDENTIAL))

    assert [mistake.partition(";")[0] for mistake in mistakes(page)] == [
        "Line 3: solution contains a credential (url-password)",
        "Line 3: context.api_key contains a credential (api-key)",
    ]
    assert 'name="takes_credentials"' in page.content.decode()
    assert "s3cretpass" not in page.content.decode()
    assert not Remediation.objects.exists()


def test_credentials_are_taken_out_on_request(admin_client: Client) -> None:
    row = {**WITH_CREDENTIAL, "context": ""}
    told = take_in(admin_client, REMEDIATIONS, "csv", as_csv(row), takes_credentials="on")

    assert "s3cretpass" not in Remediation.objects.get().solution
    assert "1 credentials were replaced before saving" in told


@pytest.mark.parametrize(
    ("character", "what"),
    [("\\u0000", "a NUL character"), ("\\ud800", "half of a surrogate pair")],
)
@pytest.mark.parametrize("field", ['"cause": "a{}"', '"tags": ["a{}"]', '"fix": [{{"do": "a{}"}}]'])
def test_what_cannot_be_stored_is_refused_by_its_field(
    admin_client: Client, field: str, character: str, what: str
) -> None:
    content = f'[{{"key": "own-1", "is_draft": true, {field.format(character)}}}]'

    shown = mistakes(preview(admin_client, PATTERNS, "json", content.encode()))

    assert f"Line 1: {field.split(chr(34))[1]} must not contain {what}" in shown


def test_what_became_wrong_after_the_preview_is_told(admin_client: Client, call: Call) -> None:
    pk = call("checkpoint_save", summary="one", project_path="/w/shop").id
    row = next(csv.DictReader(io.StringIO(exported(admin_client, CHECKPOINTS, "csv").decode())))
    other = {**row, "id": "", "created_at": "", "summary": "two", "project_path": "/w/other"}
    page = preview(admin_client, CHECKPOINTS, "csv", as_csv({**row, "summary": "new"}, other))
    confirm = page.context["confirm_form"].initial
    User.objects.update(is_superuser=False)
    staff = User.objects.get()
    staff.user_permissions.add(Permission.objects.get(codename="view_checkpoint"))

    assert admin_client.post(f"{CHECKPOINTS}process_import/", confirm).status_code == 403
    assert Checkpoint.objects.get().pk == int(pk)
    assert "Import" not in admin_client.get(CHECKPOINTS).content.decode()


def test_selected_and_filtered_records_are_exported(admin_client: Client, call: Call) -> None:
    for tag in ("a", "b"):
        call("checkpoint_save", summary=tag, project_path="/w/shop", tags=[tag])
    chosen = {"action": "export_as_json", "_selected_action": [Checkpoint.objects.first().pk]}  # type: ignore[union-attr]

    selected = json.loads(admin_client.post(CHECKPOINTS, chosen).content)
    filtered = json.loads(exported(admin_client, CHECKPOINTS, "json", tag="a"))

    assert [row["summary"] for row in selected] == ["b"]
    assert [row["summary"] for row in filtered] == ["a"]


@pytest.mark.parametrize("form", FORMATS)
def test_skills_come_and_go(admin_client: Client, call: Call, form: str) -> None:
    fields = {"name": "One", "description": "d", "content": "# Do it\n", "version": "1.0.0"}
    facts = {"author": "team", "category": "general", "tags": ["a"], "metadata": {"k": "v"}}
    created = call("skill_create", **fields, **facts, project_path="/w/shop")
    file = exported(admin_client, SKILLS, form)
    take_in(admin_client, SKILLS, form, file)
    call("skill_delete", id=created.id)
    take_in(admin_client, SKILLS, form, file)

    (skill,) = call("skill_list").skills
    kept = skill.model_dump(include={*fields, *facts})
    assert kept == {**fields, **facts}
    assert Skill.objects.filter(project__paths__path="/w/shop").exists()
    changed = file.replace(b"# Do it", b"# Do it well")
    take_in(admin_client, SKILLS, form, changed)
    assert call("skill_get", id=skill.id).version == "1.0.1"


SKILL = {
    "name": "Release",
    "description": "d",
    "content": "for all",
    "version": "1.0.0",
    "author": "team",
    "category": "general",
}


def test_skills_of_one_name_stay_within_their_projects(admin_client: Client, call: Call) -> None:
    call("skill_create", **SKILL)
    call("skill_create", **{**SKILL, "content": "private"}, project_path="/w/shop")
    file = exported(admin_client, SKILLS, "json")
    rows = [{**row, "id": "", "created_at": ""} for row in json.loads(file)]
    take_in(admin_client, SKILLS, "json", json.dumps(rows).encode())
    assert {skill.content for skill in Skill.objects.filter(version="1.0.0")} == {
        "for all",
        "private",
    }
    Skill.objects.filter(project=None).delete()
    take_in(admin_client, SKILLS, "json", json.dumps(rows).encode())

    assert Skill.objects.get(project=None).content == "for all"
    assert Skill.objects.exclude(project=None).get().content == "private"
    elsewhere = {**SKILL, "project_path": "/w/store", "content": "theirs"}
    again = {**SKILL, "name": "release", "content": "for all, better"}
    take_in(admin_client, SKILLS, "json", json.dumps([elsewhere, again]).encode())
    assert Skill.objects.get(project__paths__path="/w/store").content == "theirs"
    assert Skill.objects.get(project=None).content == "for all, better"


def test_drafts_and_retired_skills_stay_that(admin_client: Client, call: Call) -> None:
    for state in ("draft", "retired", "published"):
        pk = call("skill_create", **{**SKILL, "name": state}).id
        Skill.objects.filter(pk=int(pk)).update(state=state)
    file = exported(admin_client, SKILLS, "csv")
    Skill.objects.all().delete()
    take_in(admin_client, SKILLS, "csv", file)

    assert set(Skill.objects.values_list("name", "state")) == {
        (state, state) for state in ("draft", "retired", "published")
    }
    page = preview(admin_client, SKILLS, "csv", as_csv({**SKILL, "name": "x", "state": "lost"}))
    assert mistakes(page) == ["Line 2: state must be one of draft, published, retired"]


def test_one_fix_stays_within_each_project(admin_client: Client, call: Call) -> None:
    fix = {"error_message": "E: full", "error_type": "E", "solution": "free it"}
    call("remediation_save", **fix, tags=["all"])
    row = {**fix, "project_path": "/w/shop", "tags": '["shop"]'}
    take_in(admin_client, REMEDIATIONS, "csv", as_csv(row))

    assert Remediation.objects.get(project=None).tags == ["all"]
    assert Remediation.objects.exclude(project=None).get().tags == ["shop"]

"""Changes that wait for a review: accepted one by one, or refused."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from contextd import pipeline
from contextd.callers import Caller
from contextd.errors import Invalid
from skills.models import Skill, SkillFile, SkillVersion
from tests.admin import messages_of
from tests.conftest import Call
from tests.skills.conftest import Create
from tests.skills.packages import EXECUTABLE, FORMS, PDF, skills, write

pytestmark = pytest.mark.django_db(transaction=True)

LIST = "/admin/skills/skill/"


@pytest.fixture
def propose(reviewed: Caller) -> Any:
    """Propose a change of a skill; returns the version that waits."""

    def propose(skill: str, /, **fields: Any) -> str:
        saved: Any = pipeline.call("skill_update", {"id": skill, **fields}, reviewed)
        return str(saved.version)

    return propose


@pytest.fixture
def accept(curator: Caller) -> Any:
    def accept(skill: str, version: str) -> Any:
        return pipeline.call("skill_restore", {"id": skill, "version": version}, curator)

    return accept


def waiting() -> list[str]:
    found = SkillVersion.objects.filter(is_proposal=True).order_by("pk")
    return list(found.values_list("version", flat=True))


def test_an_accepted_proposal_keeps_what_was_accepted_in_between(
    call: Call, create: Create, propose: Any, accept: Any
) -> None:
    skill = create("one", content="first", tags=["a"])
    first = propose(skill, content="second", note="clearer")
    second = propose(skill, tags=["b"])
    assert (first, second, waiting()) == ("1.0.1", "1.0.2", ["1.0.1", "1.0.2"])

    assert accept(skill, first).version == "1.0.1"
    assert accept(skill, second).version == "1.0.2"
    now = call("skill_get", id=skill)
    assert (now.content, now.tags, now.version) == ("second", ["b"], "1.0.2")
    notes = [version.note for version in call("skill_history", id=skill).versions]
    assert notes == ["proposed by tester", "proposed by tester: clearer", ""]
    assert waiting() == []


def test_a_proposal_gets_the_version_that_it_asked_for(
    call: Call, create: Create, propose: Any, accept: Any
) -> None:
    skill = create("one")
    proposed = propose(skill, content="better", version="2.0.0")

    assert accept(skill, proposed).version == "2.0.0"


def test_a_proposal_that_contradicts_a_later_change_is_not_applied(
    call: Call, create: Create, propose: Any, accept: Any
) -> None:
    skill = create("one", content="first", tags=["a"])
    proposed = propose(skill, content="theirs", name="two", tags=["a", "b"])
    call("skill_update", id=skill, content="ours", name="three", tags=["a", "b"])

    with pytest.raises(Invalid, match=r"name and content have changed since 1\.0\.1 was proposed"):
        accept(skill, proposed)
    assert call("skill_get", id=skill).content == "ours"
    assert waiting() == [proposed]


def test_a_proposal_that_says_what_the_skill_says_by_now_is_done(
    call: Call, create: Create, propose: Any, accept: Any
) -> None:
    skill = create("one", content="first")
    proposed = propose(skill, content="same")
    call("skill_update", id=skill, content="same")

    assert "Nothing changed" in accept(skill, proposed).notice
    assert waiting() == []


def test_a_proposal_to_restore_brings_back_files_and_keeps_later_ones(
    tmp_path: Path, call: Call, reviewed: Caller, accept: Any, warm_model: None
) -> None:
    folder = write(tmp_path / "pdf-forms", FORMS)
    skills("import", folder)
    (folder / EXECUTABLE).write_bytes(b"worse")
    (folder / "SKILL.md").write_bytes(PDF.replace(b"Apache-2.0", b"MIT"))
    (folder / "assets/empty").unlink()
    skills("import", folder)
    skill = str(Skill.objects.get().pk)
    proposed: Any = pipeline.call("skill_restore", {"id": skill, "version": "1.4.0"}, reviewed)
    (folder / "references/FIELDS.md").write_bytes(b"# Fields")
    skills("import", folder)

    accept(skill, proposed.version)
    current = SkillFile.objects.filter(versions__version=Skill.objects.get().version)
    content = {file.path: bytes(file.content) for file in current}
    assert b"license: Apache-2.0" in content.pop("SKILL.md")
    assert {"SKILL.md": PDF, **content} == {**FORMS, "references/FIELDS.md": b"# Fields"}


@pytest.mark.parametrize(
    ("path", "content", "named"),
    [
        (EXECUTABLE, b"other", "scripts/fill.py"),
        ("SKILL.md", PDF.replace(b"Apache-2.0", b"BSD"), "the front matter"),
    ],
)
def test_a_proposal_does_not_undo_what_was_imported_since(
    tmp_path: Path,
    reviewed: Caller,
    accept: Any,
    warm_model: None,
    path: str,
    content: bytes,
    named: str,
) -> None:
    folder = write(tmp_path / "pdf-forms", FORMS)
    skills("import", folder)
    (folder / EXECUTABLE).write_bytes(b"worse")
    (folder / "SKILL.md").write_bytes(PDF.replace(b"Apache-2.0", b"MIT"))
    skills("import", folder)
    skill = str(Skill.objects.get().pk)
    proposed: Any = pipeline.call("skill_restore", {"id": skill, "version": "1.4.0"}, reviewed)
    (folder / path).write_bytes(content)
    skills("import", folder)

    with pytest.raises(Invalid, match=f"^{named} has changed since"):
        accept(skill, proposed.version)


def test_a_refused_proposal_is_gone_and_takes_no_version(
    admin_client: Client, call: Call, create: Create, propose: Any
) -> None:
    skill = create("one")
    other = create("two")
    propose(skill, content="worse", version="9.0.0")
    page = f"{LIST}{skill}/versions/"

    assert b"Waiting (1)" in admin_client.get(LIST).content
    listed: Any = admin_client.get(LIST, {"proposals": "waiting"})
    assert [one.name for one in listed.context["cl"].queryset] == ["one"]
    opened = admin_client.get(f"{LIST}{skill}/change/").content.decode()
    assert "from=1.0.0&to=9.0.0" in opened
    compared = admin_client.get(page, {"from": "1.0.0", "to": "9.0.0"}).content.decode()
    assert "Accept 9.0.0" in compared
    assert "Refuse 9.0.0" in compared
    refused = admin_client.post(page, {"version": "9.0.0", "refuse": "yes"}, follow=True)
    assert messages_of(refused) == ["The proposal 9.0.0 is refused"]
    assert call("skill_update", id=skill, content="x", version="1.1.0").version == "1.1.0"
    again = admin_client.post(page, {"version": "9.0.0", "refuse": "yes"}, follow=True)
    assert "Not done: skill" in messages_of(again)[0]
    kept = admin_client.post(page, {"version": "1.1.0", "refuse": "yes"}, follow=True)
    assert messages_of(kept) == [f"Not done: version 1.1.0 of skill {skill} is not a proposal"]
    assert Skill.objects.get(pk=int(other)).version == "1.0.0"


def test_versions_pass_over_those_of_proposals(
    call: Call, create: Create, propose: Any, accept: Any
) -> None:
    skill = create("one")
    propose(skill, tags=["a"])
    propose(skill, tags=["b"], version="9.0.0")

    assert call("skill_update", id=skill, content="x").version == "1.0.2"
    taken = call("skill_update", id=skill, content="y", version="9.0.0")
    assert (taken.version, "is taken" in taken.notice) == ("9.0.1", True)
    assert accept(skill, "1.0.1").version == "9.0.2"


def test_refusing_leaves_no_file_that_no_version_has(
    tmp_path: Path, admin_client: Client, propose: Any, warm_model: None
) -> None:
    skills("import", write(tmp_path / "pdf-forms", FORMS))
    skill = Skill.objects.get()
    proposed = propose(str(skill.pk), content="worse")
    assert SkillFile.objects.count() == len(FORMS) + 1

    admin_client.post(f"{LIST}{skill.pk}/versions/", {"version": proposed, "refuse": "yes"})
    assert SkillFile.objects.count() == len(FORMS)

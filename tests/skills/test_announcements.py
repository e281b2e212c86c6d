"""What connected clients are told when skills change."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command

from contextd import changes, projects
from contextd.bus import Change
from contextd.models import Project
from skills.models import Skill
from tests.conftest import Call
from tests.skills.conftest import Create
from tests.skills.packages import FORMS, ROOT, write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def told(transactional_db: None) -> Iterator[list[Change]]:
    heard: list[Change] = []

    def hear(news: object) -> None:
        if isinstance(news, Change):
            heard.append(news)

    end = changes.subscribe(hear)
    yield heard
    end()


@pytest.mark.parametrize("ends", ["merged", "deleted"])
def test_clients_are_told_when_the_project_ends(
    create: Create, told: list[Change], ends: str
) -> None:
    create("one", project_path="/w/store")
    create("two", project_path="/w/shop")
    kept = Project.objects.get(paths__path="/w/shop")
    ended = Project.objects.get(paths__path="/w/store")
    address = f"skill://project.{ended.pk}/one/SKILL.md"
    told.clear()
    if ends == "merged":
        projects.merge(kept, ended)
    else:
        ended.delete()

    expected = {("prompts", None), ("resources", None), ("resources", address)}
    assert {(change.kind, change.uri) for change in told} == expected


def test_clients_are_told_of_every_change(call: Call, create: Create, told: list[Change]) -> None:
    skill = create("one")
    expected = {("prompts", None), ("resources", None), ("resources", "skill://one/SKILL.md")}
    assert {(change.kind, change.uri) for change in told} == expected

    told.clear()
    call("skill_update", id=skill, name="two")
    renamed = {*expected, ("resources", "skill://two/SKILL.md")}
    assert {(change.kind, change.uri) for change in told} == renamed

    told.clear()
    call("skill_delete", id=skill)
    assert ("resources", "skill://two/SKILL.md") in {(one.kind, one.uri) for one in told}


def test_clients_are_told_which_files_of_a_skill_change(
    tmp_path: Path, call: Call, forms: Skill, told: list[Change]
) -> None:
    def addresses() -> set[str]:
        heard = {change.uri for change in told if change.uri}
        told.clear()
        return heard

    changed = {**FORMS, "scripts/fill.py": b"better"}
    del changed["assets/empty"]
    call_command("skills", "import", write(tmp_path / "new/pdf-forms", changed), verbosity=0)
    assert addresses() == {f"{ROOT}/scripts/fill.py", f"{ROOT}/assets/empty"}
    call("skill_restore", id=str(forms.pk), version="1.4.0")
    assert addresses() >= {f"{ROOT}/scripts/fill.py", f"{ROOT}/assets/empty"}
    call("skill_delete", id=str(forms.pk))
    assert addresses() == {f"{ROOT}/{path}" for path in FORMS}

"""`manage.py skills`: the skills of a project stay within it."""

from pathlib import Path

import pytest

from contextd.models import Project, ProjectPath
from skills.models import Skill
from tests.conftest import Call
from tests.skills.conftest import Create
from tests.skills.packages import document, skills, write

pytestmark = pytest.mark.django_db(transaction=True)


def test_skills_of_a_project_stay_there(tmp_path: Path, create: Create) -> None:
    create("one")
    write(tmp_path / "in/one", {"SKILL.md": document("one")})

    assert skills("import", tmp_path / "in", "--project", "/w/shop")[0] == "new: one 1.0.0\n"
    skills("export", tmp_path / "out")
    assert {
        path.parent.relative_to(tmp_path / "out").as_posix()
        for path in (tmp_path / "out").rglob("SKILL.md")
    } == {"one", "project.%2Fw%2Fshop/one"}


@pytest.mark.parametrize("inside", ["", "project.%2Fw%2Fshop", "project.%2Fw%2Fshop/one"])
def test_an_export_comes_back_to_the_projects_it_is_of(
    tmp_path: Path, create: Create, inside: str
) -> None:
    create("one", content="for all")
    create("one", project_path="/w/shop", content="private")
    skills("export", tmp_path / "out")
    skills("export", tmp_path / "out.zip")
    Skill.objects.all().delete()

    assert skills("import", tmp_path / "out" / inside)[1] == ""
    assert Skill.objects.exclude(project=None).get().content.strip() == "private"
    assert skills("import", tmp_path / "out.zip")[1] == ""
    assert Skill.objects.get(project=None).content.strip() == "for all"
    assert Skill.objects.count() == 2


def test_what_is_of_a_project_that_is_not_here_is_refused_until_one_is_named(
    tmp_path: Path, call: Call, create: Create
) -> None:
    create("one", project_path="/w/shop", content="private")
    Project.objects.update(git_remote="github.com/acme/shop")
    folder = tmp_path / "out/project.github.com%2Facme%2Fshop/one"
    skills("export", tmp_path / "out")
    Project.objects.all().delete()

    for path in (tmp_path / "out", folder, folder / "SKILL.md"):
        out, err = skills("import", path)
        assert out.startswith("refused: ")
        assert "to the project github.com/acme/shop, which is unknown here" in err
    assert skills("import", tmp_path / "out", "--project", "/w/shop")[0] == "new: one 1.0.0\n"
    assert Skill.objects.get().project is not None


def test_the_project_may_be_named_by_a_relative_path(
    tmp_path: Path, warm_model: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "one", {"SKILL.md": document("one")})
    monkeypatch.chdir(tmp_path)

    skills("import", folder, "--project", "shop")
    assert ProjectPath.objects.get().path == str(tmp_path / "shop")


def test_a_project_behind_a_link_is_the_one_that_clients_name(
    tmp_path: Path, warm_model: None
) -> None:
    folder = write(tmp_path / "one", {"SKILL.md": document("one")})
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    skills("import", folder, "--project", tmp_path / "link")

    assert ProjectPath.objects.get().path == str(tmp_path / "link")

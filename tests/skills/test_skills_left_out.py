"""`manage.py skills import`: files that git ignores or programs generate are left out."""

import os
import subprocess
from pathlib import Path

import pytest

from skills.models import SkillFile
from tests.git_index import add_to_index
from tests.skills.packages import content_of, document, skills, write, zipped

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_work_tree_gives_what_git_does_not_ignore(tmp_path: Path, warm_model: None) -> None:
    write(tmp_path / "skills/one", {"SKILL.md": document("one"), "secret.log": b"", "a.md": b"a"})
    write(tmp_path / "build/two", {"SKILL.md": document("two")})
    (tmp_path / ".gitignore").write_text("*.log\nbuild/\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)  # noqa: S607

    assert skills("import", tmp_path)[0] == "new: one 1.0.0\n"
    paths = SkillFile.objects.values_list("path", flat=True)
    assert sorted(paths) == ["SKILL.md", "a.md"]


def test_nothing_is_taken_in_where_git_cannot_tell_what_it_ignores(
    tmp_path: Path, warm_model: None
) -> None:
    write(tmp_path / "one", {"SKILL.md": document("one"), ".env": b"PASSWORD=1"})
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")

    out, err = skills("import", tmp_path)
    assert out == ""
    assert "git cannot list which files" in err
    assert "not a git repository: /nowhere" in err


@pytest.mark.parametrize("above", ["one/../..", "/etc"])
def test_nothing_is_taken_in_where_the_index_of_git_leads_out_of_the_folder(
    tmp_path: Path, warm_model: None, above: str
) -> None:
    clone = tmp_path / "clone"
    write(clone / "one", {"SKILL.md": document("one")})
    (tmp_path / "key").write_text("secret")
    subprocess.run(["git", "init", "-q", clone], check=True)  # noqa: S607
    add_to_index(clone, f"{above}/key")

    out, err = skills("import", clone)
    assert out == ""
    assert f"its index has the path '{above}/key', which leads out" in err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_work_tree_may_be_somebody_elses(tmp_path: Path, warm_model: None) -> None:
    write(tmp_path / "one", {"SKILL.md": document("one"), ".env": b"PASSWORD=1"})
    (tmp_path / ".gitignore").write_text(".env\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)  # noqa: S607
    for path in (tmp_path, tmp_path / ".git"):
        os.chown(path, 12345, 12345)

    assert skills("import", tmp_path) == ("new: one 1.0.0\n", "")
    assert SkillFile.objects.get().path == "SKILL.md"


def test_a_folder_that_git_ignores_as_a_whole_is_taken_when_it_is_named(
    tmp_path: Path, warm_model: None
) -> None:
    write(tmp_path / "build/one", {"SKILL.md": document("one")})
    (tmp_path / ".gitignore").write_text("build/\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)  # noqa: S607

    assert skills("import", tmp_path / "build")[0] == "new: one 1.0.0\n"
    assert "it has no SKILL.md" in skills("import", tmp_path)[1]


GENERATED = {"SKILL.md": document("one"), "node_modules/x/i.js": b"x", "lib/__pycache__/y.pyc": b""}


def test_a_folder_says_which_generated_files_are_left_out(tmp_path: Path, warm_model: None) -> None:
    write(tmp_path / "one", {**GENERATED, ".DS_Store": b""})

    out, err = skills("import", tmp_path)
    assert out == "new: one 1.0.0\n"
    assert err.splitlines() == [
        f"one: one/{path} is left out, since programs generate it"
        for path in (".DS_Store", "node_modules", "lib/__pycache__")
    ]
    assert list(SkillFile.objects.values_list("path", flat=True)) == ["SKILL.md"]
    assert skills("validate", tmp_path) == ("1 skills are valid\n", err)


@pytest.mark.parametrize("source", ["archive", "work tree"])
def test_generated_files_that_somebody_packed_or_did_not_ignore_are_kept(
    tmp_path: Path, warm_model: None, source: str
) -> None:
    path = tmp_path / "in"
    if source == "archive":
        path = tmp_path / "in.zip"
        files = {**GENERATED, ".git/HEAD": b"", ".GIT/hooks/pre-commit": b""}
        path.write_bytes(zipped({f"one/{name}": content for name, content in files.items()}))
    else:
        write(path / "one", GENERATED)
        subprocess.run(["git", "init", "-q", path], check=True)  # noqa: S607

    assert skills("import", path) == ("new: one 1.0.0\n", "")
    skills("export", tmp_path / "out")
    exported = content_of(tmp_path / "out/one")
    assert {name: content for name, (content, _) in exported.items()} == GENERATED

"""`manage.py skills export`: what it replaces, and what it never loses."""

from collections.abc import Callable
from pathlib import Path

import pytest

from skills import transfer
from skills.models import Skill
from tests.conftest import Call
from tests.skills.conftest import Create
from tests.skills.packages import FORMS, content_of, skills, write

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_export_replaces_a_folder_only_on_request(tmp_path: Path, create: Create) -> None:
    create("one")
    create("two")
    write(tmp_path / "out/one", {"SKILL.md": b"mine"})

    assert "already has one" in skills("export", tmp_path / "out")[1]
    assert content_of(tmp_path / "out/one") == {"SKILL.md": (b"mine", False)}
    assert skills("export", tmp_path / "out", "one", "--replace")[1] == ""
    assert content_of(tmp_path / "out").keys() == {"one/SKILL.md"}
    assert b"mine" not in (tmp_path / "out/one/SKILL.md").read_bytes()
    assert "no skill named three" in skills("export", tmp_path / "x", "three")[1]
    assert list(tmp_path.glob("out/.*")) == []


@pytest.mark.parametrize("path", [".git/HEAD", ".env", "node_modules/x/i.js", "notes.md"])
def test_an_export_never_loses_files_that_are_not_of_the_skill(
    tmp_path: Path, create: Create, path: str
) -> None:
    create("one")
    create("two")
    folder = write(tmp_path / "out/two", {"SKILL.md": b"mine", path: b"mine"})
    before = content_of(tmp_path)

    assert (
        f"would be lost, since no version of two has them: {path};"
        in (skills("export", tmp_path / "out", "--replace")[1])
    )
    assert content_of(tmp_path) == before
    (folder / path).unlink()
    (folder / "link").symlink_to(tmp_path)
    assert "has them: link;" in skills("export", tmp_path / "out", "--replace")[1]
    (tmp_path / "file").touch()
    folder.rename(tmp_path / "former")
    (tmp_path / "file").rename(folder)
    assert "has them: two;" in skills("export", tmp_path / "out", "--replace")[1]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_export_that_fails_midway_leaves_the_former_folder(
    tmp_path: Path, create: Create, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    create("one")
    folder = write(tmp_path / "out/one", {"SKILL.md": b"mine"})
    fail_once(monkeypatch, folder, error)

    with pytest.raises(error):
        transfer.into_folder(Skill.objects.all(), tmp_path / "out", replace=True)

    assert content_of(tmp_path / "out") == {"one/SKILL.md": (b"mine", False)}
    assert list((tmp_path / "out").iterdir()) == [folder]


def test_an_export_keeps_the_former_folder_when_another_takes_its_place(
    tmp_path: Path, create: Create, monkeypatch: pytest.MonkeyPatch
) -> None:
    create("one")
    folder = write(tmp_path / "out/one", {"SKILL.md": b"mine"})
    fail_once(monkeypatch, folder, OSError, lambda: write(folder, {"SKILL.md": b"another"}))

    with pytest.raises(OSError, match="disturbed"):
        transfer.into_folder(Skill.objects.all(), tmp_path / "out", replace=True)

    kept = content_of(tmp_path / "out")
    assert kept.pop("one/SKILL.md") == (b"another", False)
    assert list(kept.values()) == [(b"mine", False)]


def fail_once(
    monkeypatch: pytest.MonkeyPatch,
    target: Path,
    error: type[BaseException],
    meanwhile: Callable[[], object] = lambda: None,
) -> None:
    """Have the first move of a folder to the target fail."""
    rename, failed = Path.rename, list[Path]()

    def disturbed(self: Path, to: Path) -> Path:
        if to == target and not failed:
            failed.append(to)
            meanwhile()
            raise error("disturbed")
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", disturbed)


def test_an_export_removes_the_files_of_former_versions(
    tmp_path: Path, call: Call, warm_model: None
) -> None:
    folder = write(tmp_path / "pdf-forms", FORMS)
    skills("import", folder)
    skills("export", tmp_path / "out")
    (folder / "assets/stamp.png").unlink()
    skills("import", folder)

    assert skills("export", tmp_path / "out", "--replace")[1] == ""
    assert content_of(tmp_path / "out/pdf-forms") == content_of(folder)

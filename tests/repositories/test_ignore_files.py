"""Ignore files mean what they mean in git, and nothing gets in because one cannot be read."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from repositories import ignoring, listing
from tests.repositories.conftest import Folder, Index, indexed

CODE = "x = 1\n"
IGNORE_LINES = [
    "*\n!*/\n!*.py\n",
    "*\n!src/\n!src/*.py\n",
    "*\n!a/\n!*.py\n",
    "/*\n!/src\n/src/*\n!/src/deep/\n",
    "src/**\n!src/a.py\n",
    "src/**\n!src/**/\n!src/**/b.py\n",
    "a/\n!src/a/\n",
    "**/deep/**\n!**/deep/*.py\n",
    "src\n!src/a.py\n",
    "\ufeff*.txt\n",
    "#\f*.py\n#\u2028*.txt\n*.md\r\n",
    "**/s*/**/d*/**\n**/a/**/a/*\n",
    "/**/a\n*b*t*t\n*[a-c]*[!x]?p*\n",
    "src[!a]a.py\n*[[:punct:]]txt\nsrc[[:punct:]]a.py\n",
    "caf\xe9\r\n[z-\n!deep\n*.txt ",
]
IGNORED_OR_NOT = [
    *("a.py", "b.txt", "c.md", "src/a.py", "src/b.txt", "src/deep/b.py", "src/deep/c.txt"),
    *("src/a/deep/a.py", "a/b/a.py", "deep/deep/b.py"),
]


@pytest.mark.parametrize("lines", IGNORE_LINES)
def test_ignore_files_mean_what_they_mean_in_git(clone: Folder, lines: str) -> None:
    clone.write({**dict.fromkeys(IGNORED_OR_NOT, CODE), ".gitignore": lines})
    by_git = set(listing.files_in(clone.path).paths)
    (clone.path / ".git").rename(clone.path.parent / "elsewhere")

    assert set(listing.files_in(clone.path).paths) == by_git


def test_an_own_ignore_file_may_list_what_it_includes(clone: Folder, index: Index) -> None:
    clone.write({**dict.fromkeys(IGNORED_OR_NOT, CODE), ".contextdignore": "*\n!*/\n!*.py\n"})

    index(clone)

    assert indexed() == {path for path in IGNORED_OR_NOT if path.endswith(".py")}


def test_all_that_git_excludes_stays_out_even_if_that_is_everything(
    clone: Folder, index: Index
) -> None:
    clone.write({"tracked.py": CODE, "untracked.py": CODE})
    clone.git("add", "tracked.py")
    clone.write({".git/info/exclude": "*\n"})

    index(clone)

    assert indexed() == {"tracked.py"}


def link_to_nothing(file: Path) -> None:
    file.symlink_to("nowhere")


def fill(file: Path) -> None:
    file.write_text("b.txt\n" + "#" * ignoring.MAX_BYTES)


def repeat(line: str, times: int) -> Callable[[Path], None]:
    def fill(file: Path) -> None:
        file.write_text(f"#{'x' * 2000}\n" + line * times)

    return fill


UNKNOWN = [
    ("folder", ".gitignore", link_to_nothing),
    ("folder", ".gitignore", fill),
    ("folder", ".contextdignore", fill),
    ("folder", ".gitignore", repeat("x\n", 10_001)),
    ("clone", ".contextdignore", repeat("x", 1001)),
    ("clone", ".gitignore", link_to_nothing),
    ("clone", ".contextdignore", fill),
]


@pytest.mark.parametrize(("kind", "name", "spoil"), UNKNOWN)
def test_what_an_ignore_file_that_cannot_be_read_may_ignore_stays_out(
    kind: str,
    name: str,
    spoil: Callable[[Path], None],
    index: Index,
    request: pytest.FixtureRequest,
) -> None:
    folder: Folder = request.getfixturevalue(kind)
    folder.write({"a.py": CODE, "src/b.txt": CODE, "lib/c.py": CODE})
    spoil(folder.path / "src" / name)

    report = index(folder)

    assert indexed() == {"a.py", "lib/c.py"}
    assert f"{name} cannot be read: " in report.errors[0].error
    assert report.errors[0].path.startswith("src")


def test_where_git_cannot_read_an_ignore_file_only_tracked_files_are_indexed(
    clone: Folder, index: Index
) -> None:
    clone.write({"api/src/a.py": CODE, "api/src/b.txt": CODE, "api/c.py": CODE})
    clone.git("add", "api/src/a.py")
    link_to_nothing(clone.path / "api/src/.gitignore")

    report = index(Folder(clone.path / "api"))

    assert indexed() == {"src/a.py", "c.py"}
    assert [one.path for one in report.errors] == ["src"]


def test_a_folder_that_git_cannot_open_stays_as_it_was(
    clone: Folder, index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone.write({"a.py": CODE, "locked/b.py": CODE})
    index(clone)
    (clone.path / "locked/b.py").rename(tmp_path / "b.py")  # as git sees it
    program = tmp_path / "bin/git"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\n"
        "echo \"warning: could not open directory 'locked/': Permission denied\" >&2\n"
        f'exec "{shutil.which("git")}" "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

    report = index(clone)

    assert indexed() == {"a.py", "locked/b.py"}
    assert [(one.path, one.error) for one in report.errors] == [("locked", "Permission denied")]

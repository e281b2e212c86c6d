"""Folders are known by each of their paths, and deleted ones do not affect searches."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from contextd import pipeline
from contextd.callers import Caller
from contextd.errors import Invalid, NotAllowed, NotFound
from contextd.models import Job, Project
from repositories import chunking, services
from repositories.models import Repository, SourceFile
from tests.conftest import Call
from tests.repositories.conftest import Folder, Index, found

CODE = {"a.py": "def zeppelin():\n    return 1\n"}


def paths_of(caller: Caller, **arguments: Any) -> list[str]:
    answer: Any = pipeline.call("repository_search", {"query": "zeppelin", **arguments}, caller)
    return [result.path for result in answer.results]


def test_a_link_gives_no_access_to_another_project(
    folder: Folder, index: Index, call: Call, local: Caller
) -> None:
    other = Folder(folder.path.parent / "other")
    other.write({"src/b.py": "def secret():\n    return 1\n"})
    folder.write(CODE)
    index(folder)
    (folder.path / "x").symlink_to(other.path)
    own = frozenset(Project.objects.filter(name="shop").values_list("pk", flat=True))
    bound = dataclasses.replace(local, entry=dataclasses.replace(local.entry, projects=own))

    for path in ("x", "x/src"):
        with pytest.raises(NotAllowed, match="contains no project for"):
            services.begin(
                bound,
                path=str(folder.path / path),
                include_patterns=[],
                exclude_patterns=[],
                max_file_size=1000,
            )
    assert Repository.objects.count() == 1


@pytest.mark.parametrize("by_link", [True, False])
def test_a_folder_is_found_by_its_link_and_by_its_real_path(
    folder: Folder, index: Index, local: Caller, tmp_path: Path, *, by_link: bool
) -> None:
    folder.write(CODE)
    link = tmp_path / "link"
    link.symlink_to(folder.path)

    index(Folder(link) if by_link else folder)
    index(folder if by_link else Folder(link))

    assert paths_of(local, project_path=str(link)) == ["a.py"]
    assert paths_of(local, project_path=str(folder.path)) == ["a.py"]
    assert Repository.objects.count() == Project.objects.filter(repositories__gt=0).count() == 1


def test_a_repository_follows_its_remote_into_another_project(
    clone: Folder, index: Index, local: Caller
) -> None:
    clone.write(CODE)
    clone.git("remote", "add", "origin", "git@example.com:old/shop.git")
    index(clone)
    clone.git("remote", "set-url", "origin", "git@example.com:new/shop.git")

    index(clone)

    assert Repository.objects.get().project.git_remote == "example.com/new/shop"
    assert paths_of(local, project_path=str(clone.path)) == ["a.py"]
    assert paths_of(local, git_remote="git@example.com:new/shop.git") == ["a.py"]


@pytest.mark.parametrize("part", ["a" * 300, "loop"])
def test_an_unreadable_path_is_not_an_internal_error(
    folder: Folder, index: Index, call: Call, local: Caller, part: str
) -> None:
    (folder.path.parent / "loop").symlink_to("loop")
    folder.write(CODE)
    index(folder)
    path = str(folder.path.parent / part)

    with pytest.raises(Invalid, match=r"cannot be read|is not a folder"):
        index(Folder(Path(path)))
    for name in ("index_status", "index_cancel", "repository_remove"):
        with pytest.raises(NotFound):
            pipeline.call(name, {"path": path}, local)
    SourceFile.objects.update(path=f"{part}/a.py")
    assert found(call, "zeppelin") == []
    Repository.objects.update(path=path)
    assert found(call, "zeppelin") == []
    assert services.find_files("zeppelin", None, 5).files == []


def test_deleted_work_trees_take_no_place(folder: Folder, index: Index, call: Call) -> None:
    folder.write({f"m{n}.py": f"def zeppelin_{n}():\n    return 1\n" for n in range(4)})
    copies = [Folder(folder.path.parent / f"tree{n}") for n in range(12)]
    for tree in copies:
        tree.write({f"m{n}.py": f"def zeppelin_{n}():\n    return 1\n" for n in range(4)})
        index(tree)
    index(folder)
    Repository.objects.update(project=Project.objects.get(name="shop"))
    for tree in copies[:6]:
        tree.path.rename(tree.path.parent / f"gone-{tree.path.name}")

    for number in (1, 3, 4):
        results = call("repository_search", query="zeppelin", top_k=number).results
        assert len({result.path for result in results}) == len(results) == number
    assert len(services.find_files("zeppelin", None, 4).files) == 4
    gone = call("index_status", path=str(copies[0].path))
    assert gone.notice == "The folder is gone, so none of its files is found."


def test_a_search_in_an_unindexed_project_says_how_to_index_it(
    folder: Folder, index: Index, call: Call
) -> None:
    Project.objects.create(name="shop").paths.create(path=str(folder.path))

    answer = call("repository_search", query="zeppelin", project_path=str(folder.path))

    assert "index_repository indexes a folder" in answer.notice


GLOBS = {"src/a.py": "zeppelin\n", "src/tests/t.py": "zeppelin\n", "b1.py": "zeppelin\n"}


@pytest.mark.parametrize(
    ("globs", "paths"),
    [
        (["!src/tests/**"], {"src/a.py", "b1.py"}),
        (["src/**", "!src/tests/**"], {"src/a.py"}),
        (["!src/**", "src/tests/"], {"src/tests/t.py", "b1.py"}),
        (["b[[:digit:]].py"], {"b1.py"}),
        (["[[=a=]].py"], set()),
    ],
)
def test_globs_are_read_as_git_reads_them(
    folder: Folder, index: Index, call: Call, globs: list[str], paths: set[str]
) -> None:
    folder.write(GLOBS)
    index(folder)

    assert set(found(call, "zeppelin", paths=globs)) == paths


@pytest.mark.parametrize("glob", ["[", "[]", "#x", "[[:foo:]]"])
def test_a_glob_that_matches_nothing_is_refused(call: Call, glob: str) -> None:
    with pytest.raises(Invalid, match=r"which matches nothing|no character class"):
        call("repository_search", query="x", paths=[glob])


def test_a_failure_of_git_ends_the_run(clone: Folder, index: Index, call: Call) -> None:
    clone.write({**CODE, "private.py": "zeppelin\n", ".git/info/exclude": "private.py\n"})
    index(clone)
    clone.write({".git/index": "garbage"})
    started = services.submit(Repository.objects.get(), "tester", queued=False)

    services.index(started.job_id)

    job = Job.objects.get(pk=started.job_id)
    assert (job.state, "git ls-files failed" in job.error) == (Job.State.FAILED, True)
    assert found(call, "zeppelin") == ["a.py"]


def test_an_invalid_git_folder_is_ignored(folder: Folder, index: Index) -> None:
    folder.write({**CODE, ".git/readme": "nothing"})

    assert index(folder).added == 1


def test_a_file_that_fails_does_not_affect_others(
    folder: Folder, index: Index, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write({**CODE, "b.py": "broken\n"})
    cut = chunking.cut

    def fail(text: str, language: str) -> Any:
        if "broken" in text:
            raise RecursionError
        return cut(text, language)

    monkeypatch.setattr(chunking, "cut", fail)

    state = index(folder)

    assert (state.added, state.failed, state.errors[0].path) == (1, 1, "b.py")
    assert found(call, "zeppelin") == ["a.py"]


def test_a_folder_replaced_by_a_file_is_removed(clone: Folder, index: Index) -> None:
    clone.write({"lib/a.py": "x = 1\n"})
    clone.git("add", ".")
    index(clone)
    (clone.path / "lib/a.py").unlink()
    (clone.path / "lib").rmdir()
    clone.write({"lib": "y = 1\n"})

    state = index(clone)

    assert (state.added, state.removed, state.failed) == (1, 1, 0)


def test_a_vendored_file_can_be_re_included_without_git(folder: Folder, index: Index) -> None:
    folder.write({"vendor/keep.py": "x\n", "vendor/b.py": "x\n", "node_modules/c.py": "x\n"})
    folder.write({".contextdignore": "!vendor/keep.py\n"})

    index(folder)

    assert "vendor/keep.py" in SourceFile.objects.values_list("path", flat=True)
    assert not SourceFile.objects.filter(path__in=["vendor/b.py", "node_modules/c.py"]).exists()


def test_utf_32_is_text(folder: Folder, index: Index, call: Call) -> None:
    folder.write({"a.py": "zeppelin = 1\n".encode("utf-32")})
    index(folder)

    assert found(call, "zeppelin") == ["a.py"]


def test_a_running_run_does_not_report_the_counts_of_an_earlier_one(
    folder: Folder, index: Index, call: Call
) -> None:
    folder.write(CODE)
    index(folder)
    started = services.submit(Repository.objects.get(), "tester", queued=False)
    Job.objects.filter(pk=started.job_id).update(state=Job.State.RUNNING)

    running = call("index_cancel", job_id=str(started.job_id))

    assert (running.state, running.added, running.files_indexed) == ("running", 0, 1)
    assert running.notice == "The run is being cancelled; what it has indexed so far stays."
    with pytest.raises(NotFound):
        call("index_status", path="/w/other", job_id=str(started.job_id))

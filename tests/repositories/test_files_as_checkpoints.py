"""checkpoint_search finds indexed files too, as records of kind `file`."""

import dataclasses
from typing import Any

import pytest

from contextd import pipeline
from contextd.callers import Caller, Entry
from contextd.errors import NotFound
from contextd.search.models import Coverage, Embedding
from tests.conftest import Call, StrangerTo
from tests.repositories.conftest import Folder, Index


@pytest.fixture
def shop(folder: Folder, index: Index, call: Call) -> Folder:
    """Five files and two checkpoints about the same."""
    folder.write({f"src/{n}.py": f"def zeppelin_{n}():\n    return 'fly'\n" for n in range(5)})
    index(folder)
    for n in range(2):
        call(
            "checkpoint_save",
            summary=f"Zeppelin {n} flies",
            project_path=str(folder.path),
            tags=["air"],
        )
    return folder


def kinds(call: Call, **arguments: Any) -> list[str]:
    found = call("checkpoint_search", query="zeppelin fly", **arguments)
    assert [one.score for one in found.results] == sorted(
        (one.score for one in found.results), reverse=True
    )
    return sorted(result.kind for result in found.results)


def test_files_are_at_most_half_of_an_answer(shop: Folder, call: Call) -> None:
    assert kinds(call, top_k=4) == ["checkpoint"] * 2 + ["file"] * 2
    assert kinds(call, top_k=6) == ["checkpoint"] * 2 + ["file"] * 3


@pytest.mark.parametrize(
    ("query", "kind"), [("Zeppelin 1 flies", "checkpoint"), ("def return", "file")]
)
def test_a_single_result_is_the_best_one_of_any_kind(
    shop: Folder, call: Call, query: str, kind: str
) -> None:
    (result,) = call("checkpoint_search", query=query, top_k=1).results

    assert result.kind == kind


def test_one_kind_can_be_asked_for(shop: Folder, call: Call) -> None:
    assert kinds(call, top_k=10, kind="file") == ["file"] * 5
    assert kinds(call, top_k=10, kind="checkpoint") == ["checkpoint"] * 2
    assert kinds(call, top_k=10, tags=["air"]) == ["checkpoint"] * 2


def test_files_have_no_tags_as_the_notice_says(shop: Folder, call: Call) -> None:
    found = call("checkpoint_search", query="zeppelin fly", kind="file", tags=["air"])

    assert found.results == []
    assert found.notice == "Files have no tags: omit the tags, or search for checkpoints."


def test_callers_who_may_not_search_files_get_none_as_the_notice_says(
    shop: Folder, caller: Caller
) -> None:
    notes = dataclasses.replace(caller, entry=Entry(tools=("checkpoint_*",)))

    def search(**arguments: Any) -> Any:
        return pipeline.call("checkpoint_search", {"query": "zeppelin fly", **arguments}, notes)

    both, files, checkpoints = search(), search(kind="file"), search(kind="checkpoint")
    assert [one.kind for one in both.results] == ["checkpoint"] * 2
    assert files.results == []
    assert files.notice == (
        "Indexed files are left out: they need repository_search, which you may not use here."
    )
    assert (both.notice, checkpoints.notice) == (files.notice, None)


def test_the_notice_counts_pending_passages_of_files_and_checkpoints(
    shop: Folder, call: Call
) -> None:
    Embedding.objects.filter(passage__collection__domain="checkpoint").delete()
    Coverage.objects.filter(collection__domain="checkpoint").delete()

    notice = call("checkpoint_search", query="zeppelin fly").notice

    assert "found by words alone: 2." in notice
    assert "found by words alone: 5." in notice


def test_a_file_tells_where_it_is(shop: Folder, call: Call) -> None:
    (result,) = call("checkpoint_search", query="zeppelin_3", top_k=1, kind="file").results

    assert result.summary == "src/3.py, lines 1-2: zeppelin_3"
    assert result.description == "def zeppelin_3():\n    return 'fly'"
    assert result.project_path == str(shop.path)
    assert result.context == {
        "path": "src/3.py",
        "lines": "1-2",
        "language": "python",
        "symbol": "zeppelin_3",
    }


def test_files_are_no_checkpoints_elsewhere(shop: Folder, call: Call) -> None:
    (file,) = call("checkpoint_search", query="zeppelin", top_k=1, kind="file").results

    assert call("checkpoint_list").total == 2
    assert call("checkpoint_resume", project_path=str(shop.path)).summary == "Zeppelin 1 flies"
    with pytest.raises(NotFound):
        call("checkpoint_get", id=file.id)


def test_nothing_of_a_project_that_is_not_granted(
    shop: Folder, call: Call, stranger_to: StrangerTo
) -> None:
    asked = {"query": "zeppelin", "kind": "file"}
    result: Any = pipeline.call("checkpoint_search", asked, stranger_to(shop.path))

    assert result.results == []
    assert call("checkpoint_search", **asked).results

from typing import Any

import pytest

from contextd import pipeline
from contextd.errors import Invalid, NotFound
from tests.checkpoints.conftest import Save
from tests.conftest import Call


def test_the_newest_of_the_project_is_resumed(call: Call, save: Save) -> None:
    save("old")
    save("new", description="all of it", context={"branch": "main"}, tags=["t"])
    save("elsewhere", project_path="/w/blog")

    resumed = call("checkpoint_resume", project_path="/w/shop/src")
    assert (resumed.summary, resumed.description) == ("new", "all of it")
    assert (resumed.context, resumed.tags, resumed.level) == ({"branch": "main"}, ["t"], "full")


def test_what_a_team_mate_saved_in_another_clone_is_resumed_by_its_remote(
    call: Call, save: Save
) -> None:
    remote = "git@example.com:acme/shop.git"
    save("Ann was here", project_path="/home/ann/shop", context={"git_remote": remote})

    resumed = call("checkpoint_resume", project_path="/home/bob/shop", git_remote=remote)
    assert resumed.summary == "Ann was here"
    found = call("checkpoint_search", query="ann", project_path="/x/shop", git_remote=remote)
    assert len(found.results) == 1
    assert call("checkpoint_list", project_path="/x/shop", git_remote=remote).total == 1


def test_the_remote_alone_names_the_project(call: Call, save: Save) -> None:
    remote = "git@example.com:acme/shop.git"
    save("Ann was here", project_path="/home/ann/shop", context={"git_remote": remote})
    save("Elsewhere", project_path="/w/blog")

    assert call("checkpoint_resume", git_remote=remote).summary == "Ann was here"
    found = call("checkpoint_search", query="here", git_remote=remote)
    assert [one.summary for one in found.results] == ["Ann was here"]
    assert call("checkpoint_list", git_remote=remote).total == 1


def test_a_remote_that_is_not_known_finds_nothing(call: Call, save: Save) -> None:
    save("Elsewhere")
    remote = "https://ann:pw@example.com/acme/shop"

    found = call("checkpoint_search", query="elsewhere", git_remote=remote)
    assert (found.results, call("checkpoint_list", git_remote=remote).total) == ([], 0)
    assert found.notice.startswith("No project is known for example.com/acme/shop; it is created")
    with pytest.raises(NotFound, match=r"no checkpoint is saved yet for example\.com/acme/shop;"):
        call("checkpoint_resume", git_remote=remote)


def test_one_named_by_id_is_resumed(call: Call, save: Save) -> None:
    old = save("old")
    save("new")

    assert call("checkpoint_resume", id=old).summary == "old"


@pytest.mark.parametrize(
    ("level", "missing"),
    [("summary", {"context", "tags", "description"}), ("context", {"description"})],
)
def test_a_lower_level_says_less(call: Call, save: Save, level: str, missing: set[str]) -> None:
    save("new", description="all", context={"a": "b"}, tags=["t"])

    resumed = call("checkpoint_resume", project_path="/w/shop", level=level)
    assert {name for name, value in resumed if value is None} == missing


def test_a_project_without_checkpoints_is_told_so(call: Call) -> None:
    with pytest.raises(NotFound, match="no checkpoint is saved yet for /w/shop"):
        call("checkpoint_resume", project_path="/w/shop")


def test_project_or_id_is_needed(call: Call) -> None:
    with pytest.raises(Invalid, match="project_path, git_remote or id is required"):
        call("checkpoint_resume")


def test_a_project_that_is_not_granted_cannot_be_resumed(
    call: Call, save: Save, stranger_to: Any
) -> None:
    secret = save("secret", project_path="/w/secret")

    for arguments in ({"id": secret}, {"project_path": "/w/secret"}):
        with pytest.raises(NotFound):
            pipeline.call("checkpoint_resume", arguments, stranger_to("/w/secret"))

from typing import Any

from contextd import pipeline
from tests.checkpoints.conftest import Save
from tests.conftest import Call


def test_the_newest_comes_first_with_the_total(call: Call, save: Save) -> None:
    for summary in ("one", "two", "three"):
        save(summary)

    page = call("checkpoint_list", limit=2)
    assert [one.summary for one in page.checkpoints] == ["three", "two"]
    assert (page.total, page.limit, page.offset) == (3, 2, 0)


def test_offset_continues_the_page(call: Call, save: Save) -> None:
    for summary in ("one", "two", "three"):
        save(summary)

    page = call("checkpoint_list", limit=2, offset=2)
    assert [one.summary for one in page.checkpoints] == ["one"]


def test_it_can_sort_by_the_last_change(call: Call, save: Save) -> None:
    first = save("one")
    save("two")
    call("checkpoint_update", id=first, tags=["changed"])

    page = call("checkpoint_list", sort_by="updated_at")
    assert [one.summary for one in page.checkpoints] == ["one", "two"]


def test_it_can_be_limited_to_a_project(call: Call, save: Save) -> None:
    save("shop")
    save("blog", project_path="/w/blog")

    page = call("checkpoint_list", project_path="/w/blog")
    assert ([one.summary for one in page.checkpoints], page.total) == (["blog"], 1)


def test_an_unknown_project_has_none(call: Call, save: Save) -> None:
    save("shop")

    assert call("checkpoint_list", project_path="/w/nowhere").total == 0


def test_projects_that_are_not_granted_are_not_listed(
    call: Call, save: Save, stranger_to: Any
) -> None:
    save("shop")
    save("secret", project_path="/w/secret")

    page = pipeline.call("checkpoint_list", {}, stranger_to("/w/secret"))
    assert ([one.summary for one in page.checkpoints], page.total) == (["shop"], 1)  # type: ignore[attr-defined]


def test_limits_are_clamped(call: Call) -> None:
    page = call("checkpoint_list", limit=1000, offset=-1)

    assert (page.limit, page.offset) == (100, 0)

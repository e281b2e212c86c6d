from typing import Any

import pytest

from contextd import pipeline
from contextd.errors import Invalid
from skills.models import Skill
from tests.conftest import Call, StrangerTo
from tests.skills.conftest import Create


def names(page: Any) -> list[str]:
    return [skill.name for skill in page.skills]


def test_the_newest_come_first_page_by_page(call: Call, create: Create) -> None:
    for name in "abc":
        create(name)

    first, second = call("skill_list", limit=2), call("skill_list", limit=2, offset=2)
    assert (names(first), names(second)) == (["c", "b"], ["a"])
    assert (first.total, first.limit, first.offset) == (3, 2, 0)
    assert call("skill_list", limit=0).limit == 1
    assert call("skill_list", limit=101, offset=-1).limit == 100


def test_category_and_tags_filter(call: Call, create: Create) -> None:
    create("a", category="debugging", tags=["x"])
    create("b", category="debugging", tags=["x", "y"])
    create("c", category="release", tags=["y"])

    assert names(call("skill_list", category="debugging")) == ["b", "a"]
    assert names(call("skill_list", tags=["y"])) == ["c", "b"]
    assert names(call("skill_list", category="debugging", tags=["x", "y"])) == ["b"]
    assert call("skill_list", category="none").total == 0


def test_they_are_sorted_by_change_and_by_use(call: Call, create: Create) -> None:
    a, b = create("a"), create("b")
    create("c")
    call("skill_update", id=a, content="x")
    call("skill_apply", id=b)

    assert names(call("skill_list", sort_by="updated_at")) == ["a", "c", "b"]
    assert names(call("skill_list", sort_by="usage_count")) == ["b", "c", "a"]
    with pytest.raises(Invalid, match="sort_by must be one of 'created_at', 'updated_at'"):
        call("skill_list", sort_by="name")


def test_one_lucky_success_does_not_outdo_many(call: Call, create: Create) -> None:
    for name, worked, failed in [("lucky", 1, 0), ("proven", 95, 5), ("bad", 1, 9), ("new", 0, 0)]:
        skill = create(name)
        Skill.objects.filter(pk=skill).update(success_count=worked, failure_count=failed)

    page = call("skill_list", sort_by="success_rate")
    rates = [(skill.name, skill.success_rate, skill.rated_count) for skill in page.skills]
    assert rates == [("proven", 0.95, 100), ("lucky", 1.0, 1), ("bad", 0.1, 10), ("new", 0.0, 0)]


def test_only_granted_projects_are_listed(
    call: Call, create: Create, stranger_to: StrangerTo
) -> None:
    create("secret", project_path="/w/secret")
    create("shop", project_path="/w/shop")
    create("shared")

    page: Any = pipeline.call("skill_list", {}, stranger_to("/w/secret"))
    assert (names(page), page.total) == (["shared", "shop"], 2)
    assert call("skill_list").total == 3

from typing import Any

from contextd import pipeline
from tests.conftest import Call, StrangerTo
from tests.skills.conftest import Create


def ids(found: Any) -> list[str]:
    return [match.id for match in found.results]


def test_skills_are_found_by_meaning(call: Call, create: Create) -> None:
    create("Release", description="Publish a new version of the package")
    races = create("Races", description="Find out why concurrent threads corrupt shared state")

    found = call("skill_search", query="my goroutines overwrite each other's data", top_k=1)
    assert ids(found) == [races]
    assert (found.query, found.top_k) == ("my goroutines overwrite each other's data", 1)


def test_a_result_is_the_whole_skill(call: Call, create: Create) -> None:
    skill = create("one", tags=["a"], metadata={"k": "v"}, prerequisites=["p"])

    (match,) = call("skill_search", query="one").results
    detail = call("skill_get", id=skill).model_dump(exclude={"current_version", "files"})
    assert match.model_dump(exclude={"score", "distance"}) == detail
    assert 0 < match.score <= 1
    assert 0 <= match.distance < 1


def test_text_near_the_end_of_a_long_skill_is_found(call: Call, create: Create) -> None:
    filler = "\n\n".join(
        f"Step {number}: check that service {number} answers, then go on." for number in range(905)
    )
    content = f"{filler}\n\nLast: unplug the capacitor of the zeppelin."
    assert 49_000 < len(content) <= 50_000
    long = create("Long", content=content)
    for number in range(3):
        create(f"Short {'abc'[number]}")

    assert ids(call("skill_search", query="zeppelin capacitor", top_k=1)) == [long]


def test_category_and_tags_filter_before_the_cut(call: Call, create: Create) -> None:
    for number in range(12):
        create(f"migrate a database {'x' * (number + 1)}", category="deployment", tags=["db"])
    rare = create("feed the cat", category="home", tags=["db", "rare"])

    asked = {"query": "migrate a database", "top_k": 5}
    assert ids(call("skill_search", **asked, tags=["db", "rare"])) == [rare]
    assert ids(call("skill_search", **asked, category="Home")) == [rare]
    assert len(ids(call("skill_search", **asked, tags=["db"]))) == 5
    assert ids(call("skill_search", **asked, category="home", tags=["none"])) == []


def test_what_is_out_of_range_is_clamped(call: Call, create: Create) -> None:
    create("one")
    create("two")

    found = call("skill_search", query="one", top_k=0)
    assert (len(found.results), found.top_k) == (1, 1)
    assert call("skill_search", query="one", top_k=1000).top_k == 100


def test_projects_that_are_not_granted_stay_hidden_and_others_do_not_vanish(
    call: Call, create: Create, stranger_to: StrangerTo
) -> None:
    for number in range(12):
        create(f"log in {'x' * (number + 1)}", project_path="/w/secret")
    shared = create("log in")
    granted = create("log in again", project_path="/w/shop")

    asked = {"query": "log in", "top_k": 10}
    found = pipeline.call("skill_search", asked, stranger_to("/w/secret"))
    assert set(ids(found)) == {shared, granted}
    assert len(ids(call("skill_search", **asked))) == 10

from typing import Any

from contextd import pipeline
from tests.checkpoints.conftest import Save
from tests.conftest import Call


def summaries(found: Any) -> list[str]:
    return [match.summary for match in found.results]


def test_it_finds_by_words(call: Call, save: Save) -> None:
    save("Moved the invoice export to a Celery task")
    save("Fixed the colour of the login button")

    assert summaries(call("checkpoint_search", query="celery"))[0].startswith("Moved")


def test_it_finds_by_meaning(call: Call, save: Save) -> None:
    save("Users can now sign in with their Google account")
    save("Raised the memory limit of the build container")

    assert summaries(call("checkpoint_search", query="authentication through OAuth"))[0].startswith(
        "Users"
    )


def test_a_long_description_is_found_by_its_last_words(call: Call, save: Save) -> None:
    filler = "We looked at the report and talked about the plan. " * 90
    save("Weekly notes", description=filler + "Finally the zeppelin hangar was renamed.")
    save("Other notes", description=filler)

    found = call("checkpoint_search", query="zeppelin hangar", top_k=1)
    assert summaries(found) == ["Weekly notes"]


def test_results_carry_what_was_saved_and_how_well_they_fit(call: Call, save: Save) -> None:
    saved = save("Cache invalidation", description="by version", context={"a": "b"}, tags=["c"])

    found = call("checkpoint_search", query="cache invalidation", top_k=3)
    match = found.results[0]
    assert (found.query, found.top_k, found.notice) == ("cache invalidation", 3, None)
    assert (match.id, match.description, match.project_path) == (saved, "by version", "/w/shop")
    assert (match.context, match.tags) == ({"a": "b"}, ["c"])
    assert 0 < match.score <= 1
    assert 0 <= match.distance <= 2


def test_all_given_tags_are_needed_even_when_others_fit_better(call: Call, save: Save) -> None:
    for number in range(30):
        save(f"Database migration number {number}", tags=["db"])
    save("Something about kittens", tags=["db", "rare"])

    found = call("checkpoint_search", query="database migration", tags=["db", "rare"])
    assert summaries(found) == ["Something about kittens"]


def test_only_the_project_asked_for_is_searched(call: Call, save: Save) -> None:
    save("Login page", project_path="/w/shop")
    save("Login page too", project_path="/w/blog")

    found = call("checkpoint_search", query="login", project_path="/w/blog/templates")
    assert summaries(found) == ["Login page too"]


def test_an_unknown_project_is_said(call: Call, save: Save) -> None:
    save("Login page")

    found = call("checkpoint_search", query="login", project_path="/w/nowhere")
    assert found.results == []
    assert found.notice == (
        "No project is known for /w/nowhere; it is created when something is saved there."
    )


def test_projects_that_are_not_granted_stay_hidden_and_others_do_not_vanish(
    call: Call, save: Save, stranger_to: Any
) -> None:
    for number in range(20):
        save(f"Secret login work {number}", project_path="/w/secret")
    save("Login of the shop")

    found = pipeline.call("checkpoint_search", {"query": "login"}, stranger_to("/w/secret"))
    assert summaries(found) == ["Login of the shop"]


def test_top_k_is_clamped_and_the_answer_says_what_was_used(call: Call, save: Save) -> None:
    save("one")
    save("two")

    assert call("checkpoint_search", query="one", top_k=0).top_k == 1
    assert call("checkpoint_search", query="one", top_k=1000).top_k == 100

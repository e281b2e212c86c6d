from typing import Any

import pytest

from contextd import pipeline, search
from contextd.errors import Invalid, NotFound
from remediations.models import Remediation
from tests.conftest import Call, StrangerTo
from tests.remediations.conftest import Save


def test_only_what_is_given_changes(call: Call, save: Save) -> None:
    saved = save("boom", context={"a": "b"}, tags=["t"], severity="low", stack_trace="at x")
    call("remediation_feedback", id=saved, outcome="worked")

    updated = call("remediation_update", id=saved, solution="restart twice")

    kept = Remediation.objects.get()
    assert updated.solution == kept.solution == "restart twice"
    assert (kept.error_message, kept.context, kept.tags) == ("boom", {"a": "b"}, ["t"])
    assert (kept.severity, kept.stack_trace) == ("low", "at x")


def test_another_fix_starts_without_the_ratings_of_the_former(call: Call, save: Save) -> None:
    saved = save("boom", solution="restart")
    save("boom", solution="restart")
    for outcome in ("worked", "did_not_work", "outdated"):
        call("remediation_feedback", id=saved, outcome=outcome)

    call("remediation_update", id=saved, error_message="bang", solution="Restart.")
    kept = Remediation.objects.get()
    assert (kept.seen_count, kept.worked, kept.did_not_work, kept.outdated) == (2, 1, 1, 1)

    call("remediation_update", id=saved, solution="raise the limit")
    kept.refresh_from_db()
    assert (kept.seen_count, kept.worked, kept.did_not_work, kept.outdated) == (1, 0, 0, 0)


def test_everything_can_change_and_the_optional_be_emptied(call: Call, save: Save) -> None:
    saved = save("boom", context={"a": "b"}, tags=["t"], severity="low", stack_trace="at x")

    call(
        "remediation_update",
        id=saved,
        error_message="bang",
        error_type="Bang",
        solution="reboot",
        context={},
        tags=[],
        severity="",
        stack_trace="",
    )

    kept = Remediation.objects.get()
    assert (kept.error_message, kept.error_type, kept.solution) == ("bang", "Bang", "reboot")
    assert (kept.context, kept.tags, kept.severity, kept.stack_trace) == ({}, [], "", "")


def test_it_is_found_by_its_new_words_and_no_longer_by_the_old(call: Call, save: Save) -> None:
    saved, other = save("the zeppelin burns"), save("the submarine leaks")

    call("remediation_update", id=saved, error_message="the orchard floods", solution="drain it")

    found = call("remediation_search", error_message="orchard floods").results
    assert found[0].id == saved
    assert all(
        match.string_score < 0.5
        for match in call("remediation_search", error_message="zeppelin", min_score=0).results
    )
    assert other != saved


def test_a_changed_one_is_strengthened_by_what_it_says_now(call: Call, save: Save) -> None:
    saved = save("boom", error_type="Boom", solution="restart")
    call("remediation_update", id=saved, error_message="bang", solution="reboot")

    assert save("bang", error_type="Boom", solution="reboot") == saved


def test_it_cannot_become_the_same_as_another(call: Call, save: Save) -> None:
    save("boom", error_type="Boom", solution="restart")
    saved = save("boom", error_type="Boom", solution="reboot")

    with pytest.raises(Invalid, match="saved already"):
        call("remediation_update", id=saved, solution="restart")
    assert Remediation.objects.get(pk=saved).solution == "reboot"


def test_it_can_become_like_another_that_ends_the_same(call: Call, save: Save) -> None:
    save("the port is taken\nexit status 1", solution="restart")
    saved = save("no route to the host\nexit status 1", solution="reboot")

    assert call("remediation_update", id=saved, solution="restart").solution == "restart"


def test_a_credential_is_replaced_before_it_is_stored_and_counted(call: Call, save: Save) -> None:
    saved = save("boom")

    updated = call("remediation_update", id=saved, solution="postgresql://app:s3cretpass@db/shop")

    assert updated.redacted == 1
    assert "s3cretpass" not in Remediation.objects.get().solution


def test_one_of_a_project_that_is_not_granted_cannot_be_changed(
    save: Save, stranger_to: StrangerTo
) -> None:
    secret = save("secret", solution="keep", project_path="/w/secret")

    with pytest.raises(NotFound):
        pipeline.call(
            "remediation_update", {"id": secret, "solution": "x"}, stranger_to("/w/secret")
        )
    assert Remediation.objects.get().solution == "keep"


def test_one_that_is_deleted_meanwhile_stays_deleted(
    call: Call, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = save("boom")
    prepare = search.prepare

    def prepare_while_it_is_deleted(*texts: str) -> search.Prepared:
        Remediation.objects.all().delete()
        return prepare(*texts)

    monkeypatch.setattr(search, "prepare", prepare_while_it_is_deleted)
    with pytest.raises(NotFound):
        call("remediation_update", id=saved, solution="reboot")

    assert not Remediation.objects.exists()


def test_what_others_change_meanwhile_stays(
    call: Call, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = save("boom", solution="zebra")
    others: list[dict[str, Any]] = [{"solution": "orchard"}, {"tags": ["theirs"], "worked": 1}]
    prepare = search.prepare

    def prepare_while_others_write(*texts: str) -> search.Prepared:
        if others:
            Remediation.objects.update(**others.pop(0))
        return prepare(*texts)

    monkeypatch.setattr(search, "prepare", prepare_while_others_write)
    call("remediation_update", id=saved, error_message="bang")

    kept = Remediation.objects.get()
    assert (kept.error_message, kept.solution) == ("bang", "orchard")
    assert (kept.tags, kept.worked) == (["theirs"], 1)
    assert save("bang", solution="orchard") == saved


def test_a_change_without_text_needs_no_embedding(
    call: Call, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = save("boom")
    monkeypatch.setattr(search, "prepare", None)

    assert call("remediation_update", id=saved, tags=["t"], severity="high").notice is None
    assert Remediation.objects.get().severity == "high"

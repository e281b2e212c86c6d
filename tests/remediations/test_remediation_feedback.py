import pytest

from contextd import notes, pipeline
from contextd.errors import Invalid, NotFound
from remediations.models import Remediation
from tests.conftest import Call, StrangerTo
from tests.remediations.conftest import Save


@pytest.mark.parametrize("outcome", ["worked", "did_not_work", "outdated"])
def test_each_outcome_is_counted(call: Call, save: Save, outcome: str) -> None:
    saved = save("boom")

    for number in (1, 2):
        rated = call("remediation_feedback", id=saved, outcome=outcome)
        assert getattr(rated, outcome) == number

    kept = Remediation.objects.get()
    counts = (kept.worked, kept.did_not_work, kept.outdated)
    assert sum(counts) == getattr(kept, outcome) == 2
    assert rated.confidence == pytest.approx(kept.confidence)


def test_what_is_not_known_is_even_and_evidence_moves_it(call: Call, save: Save) -> None:
    saved = save("boom")
    assert Remediation.objects.get().confidence == 0.5

    assert call("remediation_feedback", id=saved, outcome="worked").confidence == pytest.approx(
        2 / 3
    )
    assert call("remediation_feedback", id=saved, outcome="did_not_work").confidence == 0.5
    assert call("remediation_feedback", id=saved, outcome="outdated").confidence == pytest.approx(
        1 / 3
    )


def test_a_fix_that_worked_passes_one_that_nobody_tried(call: Call, save: Save) -> None:
    first, second = save("boom", solution="restart"), save("boom", solution="reboot")
    before = search(call)

    call("remediation_feedback", id=before[-1], outcome="worked")

    assert set(before) == {first, second}
    assert search(call) == before[::-1]


@pytest.mark.parametrize("outcome", ["did_not_work", "outdated"])
def test_a_fix_that_failed_falls_behind(call: Call, save: Save, outcome: str) -> None:
    save("boom", solution="restart")
    save("boom", solution="reboot")
    before = search(call)

    call("remediation_feedback", id=before[0], outcome=outcome)

    assert search(call) == before[::-1]


def test_an_outdated_fix_stays_to_be_found(call: Call, save: Save) -> None:
    saved = save("boom")

    for _ in range(10):
        call("remediation_feedback", id=saved, outcome="outdated")

    assert search(call) == [saved]


def test_another_outcome_is_refused(call: Call, save: Save) -> None:
    saved = save("boom")

    with pytest.raises(Invalid, match="outcome must be one of"):
        call("remediation_feedback", id=saved, outcome="great")


def test_one_of_a_project_that_is_not_granted_cannot_be_rated(
    save: Save, stranger_to: StrangerTo
) -> None:
    secret = save("secret", project_path="/w/secret")

    with pytest.raises(NotFound):
        pipeline.call(
            "remediation_feedback", {"id": secret, "outcome": "worked"}, stranger_to("/w/secret")
        )
    assert Remediation.objects.get().worked == 0


def test_one_that_is_deleted_while_it_is_rated_is_not_found(
    call: Call, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = save("boom")

    def delete_it(*, helped: bool) -> None:
        Remediation.objects.all().delete()

    monkeypatch.setattr(notes, "rated", delete_it)
    with pytest.raises(NotFound, match=saved):
        call("remediation_feedback", id=saved, outcome="worked")


def search(call: Call) -> list[str]:
    return [match.id for match in call("remediation_search", error_message="boom").results]

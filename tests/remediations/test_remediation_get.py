import pytest

from contextd import pipeline
from contextd.errors import NotFound
from tests.conftest import Call, StrangerTo
from tests.remediations.conftest import Save


def test_all_that_is_known_is_told(call: Call, save: Save) -> None:
    saved = save(
        "boom",
        error_type="Boom",
        solution="restart",
        stack_trace="at x",
        context={"a": "b"},
        tags=["t"],
        severity="high",
    )
    call("remediation_feedback", id=saved, outcome="worked")

    detail = call("remediation_get", id=saved)

    assert (detail.id, detail.error_message, detail.error_type) == (saved, "boom", "Boom")
    assert (detail.solution, detail.stack_trace) == ("restart", "at x")
    assert (detail.context, detail.tags, detail.severity) == ({"a": "b"}, ["t"], "high")
    assert (detail.seen_count, detail.worked, detail.did_not_work, detail.outdated) == (1, 1, 0, 0)
    assert detail.created_by == "tester"
    assert (detail.last_seen_at - detail.created_at).total_seconds() == pytest.approx(0, abs=1)


@pytest.mark.parametrize("wrong", ["7", "x", "1" * 30])
def test_one_that_is_not_there_is_not_found(call: Call, wrong: str) -> None:
    with pytest.raises(NotFound, match="there is no remediation with id"):
        call("remediation_get", id=wrong)


def test_one_of_a_project_that_is_not_granted_is_not_found_and_shared_ones_are(
    save: Save, stranger_to: StrangerTo
) -> None:
    secret, shared = save("secret", project_path="/w/secret"), save("shared")

    with pytest.raises(NotFound):
        pipeline.call("remediation_get", {"id": secret}, stranger_to("/w/secret"))
    pipeline.call("remediation_get", {"id": shared}, stranger_to("/w/secret"))

"""`troubleshoot_feedback`: what is said afterwards moves success rates and offers the fix."""

import dataclasses
from typing import Any

import pytest

from contextd import pipeline
from contextd.callers import Caller
from contextd.errors import Invalid, NotAllowed, NotFound
from contextd.models import Project
from remediations.models import Remediation
from tests.conftest import Call
from tests.troubleshoot.conftest import DISK_FULL, proceed
from troubleshoot.models import Diagnosis, Pattern

Known = dict[str, Pattern]
UNLIKELY = "cannot load the module 'yaml' of the rover"


@pytest.fixture
def session(call: Call, known: Known) -> str:
    return str(call("troubleshoot", error_message=DISK_FULL, tags=["ci"]).session_id)


def counts(key: str) -> tuple[int, int]:
    pattern = Pattern.objects.get(key=key)
    return pattern.worked, pattern.did_not_work


def test_what_worked_raises_the_success_rate(call: Call, session: str) -> None:
    rated = call("troubleshoot_feedback", session_id=session, worked=True)

    assert (rated.hypothesis, rated.status) == ("disk-full", "solved")
    assert rated.success_rate == pytest.approx(2 / 3, abs=0.001)
    assert counts("disk-full") == (1, 0)


def test_what_did_not_work_lowers_it(call: Call, session: str) -> None:
    rated = call(
        "troubleshoot_feedback", session_id=session, hypothesis="inodes-gone", worked=False
    )

    assert rated.status == "unsolved"
    assert counts("inodes-gone") == (0, 1)
    assert counts("disk-full") == (0, 0)


def test_said_twice_it_counts_once_and_may_be_taken_back(call: Call, session: str) -> None:
    for worked in (True, True, False):
        call("troubleshoot_feedback", session_id=session, worked=worked)

    assert counts("disk-full") == (0, 1)


def test_another_hypothesis_has_a_rating_of_its_own(call: Call, session: str) -> None:
    for hypothesis in ("disk-full", "inodes-gone"):
        call("troubleshoot_feedback", session_id=session, hypothesis=hypothesis, worked=True)
    call("troubleshoot_feedback", session_id=session, hypothesis="disk-full", worked=False)

    assert (counts("disk-full"), counts("inodes-gone")) == ((0, 1), (1, 0))


def test_a_rating_of_a_pattern_that_was_made_anew_may_be_taken_back(
    call: Call, session: str
) -> None:
    call("troubleshoot_feedback", session_id=session, worked=True)
    Pattern.objects.update(worked=0)

    call("troubleshoot_feedback", session_id=session, worked=False)

    assert counts("disk-full") == (0, 1)


def test_the_fix_is_offered_as_a_remediation(call: Call, session: str) -> None:
    rated = call(
        "troubleshoot_feedback", session_id=session, worked=False, fixed_by="Grew the volume"
    )
    call("remediation_save", **rated.offer.model_dump())

    assert rated.status == "solved"
    assert (rated.hypothesis, rated.success_rate) == ("disk-full", pytest.approx(1 / 3, abs=0.001))
    kept = Remediation.objects.get()
    assert (kept.error_message, kept.solution, kept.tags) == (DISK_FULL, "Grew the volume", ["ci"])


def test_the_fix_is_saved_on_request(call: Call, session: str) -> None:
    rated = call(
        "troubleshoot_feedback",
        session_id=session,
        worked=True,
        fixed_by="Grew the volume",
        save=True,
        project_path="/w/shop",
    )

    kept = Remediation.objects.get()
    assert (rated.remediation_id, rated.offer) == (str(kept.pk), None)
    assert kept.project is not None
    assert Diagnosis.objects.get().remediation_id == kept.pk
    assert (rated.hypothesis, counts("disk-full")) == ("disk-full", (1, 0))


def test_a_fix_is_saved_for_the_project_of_the_remote(call: Call, session: str) -> None:
    remote = "https://example.com/acme/shop"
    shop = Project.objects.create(name="shop", git_remote="example.com/acme/shop")

    call(
        "troubleshoot_feedback",
        session_id=session,
        worked=True,
        fixed_by="Grew the volume",
        save=True,
        project_path="/home/ben/shop",
        git_remote=remote,
    )

    kept = Remediation.objects.get()
    assert kept.project == shop
    assert kept.context["git_remote"] == remote


def test_a_fix_that_is_saved_twice_by_a_session_is_seen_once(call: Call, session: str) -> None:
    arguments = {"session_id": session, "worked": True, "save": True}

    once, twice = (
        call("troubleshoot_feedback", fixed_by="Grew the volume", **arguments) for _ in range(2)
    )
    call("troubleshoot_feedback", fixed_by="Deleted the dumps", **arguments)

    assert twice == once
    assert sorted(Remediation.objects.values_list("solution", "seen_count")) == [
        ("Deleted the dumps", 1),
        ("Grew the volume", 1),
    ]


def test_a_past_fix_is_rated_too(call: Call, known: Known) -> None:
    error = "warp coil 7 desynchronised: phase drift of 12 degrees"
    call("remediation_save", error_message=error, error_type="WarpError", solution="reboot")
    session = call("troubleshoot", error_message=error).session_id

    call("troubleshoot_feedback", session_id=session, worked=True)
    rated = call("troubleshoot_feedback", session_id=session, worked=True)

    assert Remediation.objects.get().worked == 1
    assert rated.success_rate == pytest.approx(2 / 3)
    Remediation.objects.all().delete()
    gone = call("troubleshoot_feedback", session_id=session, worked=False)
    assert gone.success_rate is None


def test_a_past_fix_whose_rating_is_taken_back_counts_once(call: Call, known: Known) -> None:
    error = "warp coil 7 desynchronised: phase drift of 12 degrees"
    call("remediation_save", error_message=error, error_type="WarpError", solution="reboot")
    session = call("troubleshoot", error_message=error).session_id

    for worked in (True, False):
        rated = call("troubleshoot_feedback", session_id=session, worked=worked)

    kept = Remediation.objects.get()
    assert (kept.worked, kept.did_not_work) == (0, 1)
    assert rated.success_rate == pytest.approx(1 / 3)
    assert rated.status == "unsolved"


def test_a_cause_that_was_ruled_out_is_not_credited(call: Call, known: Known) -> None:
    begun = call("troubleshoot", error_message=DISK_FULL, mode="guided")
    session = begun.session_id
    second = proceed(call, begun, "not_as_expected")

    rated = call("troubleshoot_feedback", session_id=session, worked=True)

    assert rated.hypothesis is None
    assert rated.notice.startswith("No hypothesis was rated, since the root cause is unknown.")
    assert counts("disk-full") == (0, 0)
    proceed(call, second, "as_expected")
    settled = call("troubleshoot_feedback", session_id=session, worked=True)
    assert settled.hypothesis == "inodes-gone"


@pytest.mark.parametrize("worked", [True, False])
def test_an_unknown_error_credits_and_blames_nothing(
    call: Call, known: Known, worked: bool
) -> None:
    result = call("troubleshoot", error_message=UNLIKELY)

    rated = call("troubleshoot_feedback", session_id=result.session_id, worked=worked)

    assert result.hypotheses
    assert result.root_cause.startswith("Unknown")
    assert (rated.hypothesis, counts("module-missing")) == (None, (0, 0))
    assert rated.notice.endswith("To rate one, set hypothesis: module-missing")
    assert rated.status == ("solved" if worked else "unsolved")


def test_a_context_without_remediation_save_saves_none(
    call: Call, session: str, caller: Caller
) -> None:
    entry = dataclasses.replace(caller.entry, tools=("troubleshoot*",))
    arguments = {"session_id": session, "worked": True, "fixed_by": "Grew the volume"}

    with pytest.raises(NotAllowed, match="does not contain the tool remediation_save"):
        pipeline.call(
            "troubleshoot_feedback",
            {**arguments, "save": True},
            dataclasses.replace(caller, entry=entry),
        )

    assert not Remediation.objects.exists()
    assert Diagnosis.objects.get().status == "open"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"hypothesis": "x"}, "hypothesis 'x' is not one of this session: disk-full"),
        ({"save": True}, "fixed_by is required to save a remediation"),
    ],
)
def test_what_is_wrong_is_said(
    call: Call, session: str, more: dict[str, Any], message: str
) -> None:
    with pytest.raises(Invalid, match=message):
        call("troubleshoot_feedback", session_id=session, worked=True, **more)


def test_a_session_that_is_not_there_is_not_found(call: Call) -> None:
    with pytest.raises(NotFound, match="there is no troubleshooting session with id '7'"):
        call("troubleshoot_feedback", session_id="7", worked=True)

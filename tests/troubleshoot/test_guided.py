"""Guided troubleshooting: one check at a time, until one hypothesis stands."""

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextd import pipeline
from contextd.callers import Caller
from contextd.errors import Invalid, NotFound
from tests.conftest import Call
from tests.troubleshoot.conftest import DISK_FULL, Know, proceed
from troubleshoot import narrowing
from troubleshoot.hypotheses import Check, Hypothesis
from troubleshoot.models import Pattern

Known = dict[str, Pattern]
UNLIKELY = "cannot load the module 'yaml' of the rover"


def begin(call: Call, error: str = DISK_FULL) -> Any:
    return call("troubleshoot", error_message=error, mode="guided")


def test_the_next_single_check_is_asked_for(call: Call, known: Known) -> None:
    check = begin(call).next_check

    assert (check.id, check.hypothesis) == ("disk-full:1", "disk-full")
    assert (check.command, check.expected) == ("df -h /var/lib/shop", "Use% is 100")


def test_what_tells_a_rival_apart_names_it(call: Call, known: Known) -> None:
    narrowed = proceed(call, begin(call), "unclear")

    assert (narrowed.next_check.id, narrowed.next_check.hypothesis) == (
        "disk-full:or:inodes-gone",
        "inodes-gone",
    )
    assert narrowed.next_check.expected == (
        "it is rather “The file system has no free inodes”: df -i shows IUse% 100, df -h does not"
    )


def test_auto_asks_for_none(call: Call, known: Known) -> None:
    assert call("troubleshoot", error_message=DISK_FULL).next_check is None


def test_a_check_that_fails_rules_its_hypothesis_out(call: Call, known: Known) -> None:
    narrowed = proceed(call, begin(call), "not_as_expected")

    assert narrowed.ruled_out == ["The file system has no free blocks"]
    assert narrowed.next_check.id == "inodes-gone:1"
    assert narrowed.hypotheses[0].probability < narrowing.KNOWN
    assert narrowed.root_cause.startswith("Unknown")


def test_one_hypothesis_stands_in_the_end(call: Call, known: Known) -> None:
    second = proceed(call, begin(call), "not_as_expected")

    narrowed = proceed(call, second, "as_expected")

    assert narrowed.is_settled
    assert narrowed.next_check is None
    assert narrowed.hypotheses[0].id == "inodes-gone"
    assert narrowed.root_cause == known["inodes-gone"].cause
    assert narrowed.recommended_actions[0].description == "Keep fewer small files"


def test_where_all_are_ruled_out_general_steps_remain(call: Call, know: Know) -> None:
    know("module-missing")
    begun = begin(call, "ModuleNotFoundError: No module named 'toml'")

    narrowed = proceed(call, begun, "not_as_expected")

    assert narrowed.root_cause == "Unknown: every hypothesis is ruled out."
    assert (narrowed.hypotheses, narrowed.confidence_score) == ([], 0)
    assert (narrowed.next_check, bool(narrowed.recommended_actions)) == (None, True)


def test_what_is_unlikely_is_not_called_the_cause(call: Call, known: Known) -> None:
    begun = begin(call, UNLIKELY)

    narrowed = proceed(call, begun, "unclear")

    assert begun.root_cause.startswith("Unknown")
    assert narrowed.root_cause == (
        "Unknown: nothing that is known fits this error well. "
        "Nearest known: “A Python module is not installed”."
    )
    assert [one.id for one in narrowed.hypotheses] == ["module-missing"]
    assert "save the fix" in narrowed.recommended_actions[-1].description


def test_the_outcome_of_a_named_check_can_be_corrected(call: Call, known: Known) -> None:
    session = begin(call).session_id
    arguments = {"session_id": session, "check": "disk-full:1"}
    call("troubleshoot_continue", outcome="not_as_expected", **arguments)

    narrowed = call("troubleshoot_continue", outcome="as_expected", **arguments)

    assert narrowed.ruled_out == []
    with pytest.raises(Invalid, match="check 'x' is not one of this session: disk-full:1"):
        call("troubleshoot_continue", session_id=session, check="x", outcome="unclear")


def test_an_outcome_that_is_sent_twice_counts_once(call: Call, known: Known) -> None:
    """As by a client that lost the answer: it must not count for the check that is next."""
    begun = begin(call)

    once, twice = (proceed(call, begun, "not_as_expected") for _ in range(2))

    assert twice == once
    with pytest.raises(Invalid, match="check is required"):
        call("troubleshoot_continue", session_id=begun.session_id, outcome="as_expected")


def test_a_session_is_the_callers_own(call: Call, known: Known, caller: Caller) -> None:
    made = {"session_id": begin(call).session_id, "check": "disk-full:1"}
    for other in (
        dataclasses.replace(caller, principal="somebody"),
        dataclasses.replace(caller, entry=dataclasses.replace(caller.entry, name="other")),
    ):
        with pytest.raises(NotFound, match="there is no troubleshooting session with id"):
            pipeline.call("troubleshoot_continue", {**made, "outcome": "unclear"}, other)


def hypothesis(name: str, log_odds: float, checks: int = 1) -> Hypothesis:
    return Hypothesis(
        id=name,
        description=name,
        root_cause=name,
        log_odds=log_odds,
        evidence=[],
        category="general",
        severity="low",
        checks=[Check(id=f"{name}:{n}", about=name, expect="x") for n in range(checks)],
    )


OUTCOMES = st.sampled_from(["as_expected", "not_as_expected", "unclear"])


@given(st.lists(st.floats(-4, 6), min_size=1, max_size=4), st.lists(OUTCOMES, max_size=12))
def test_narrowing_ends_and_asks_nothing_twice(
    odds: list[float], outcomes: list[narrowing.Outcome]
) -> None:
    hypotheses = [hypothesis(f"h{n}", value, checks=3) for n, value in enumerate(odds)]
    told: dict[str, narrowing.Outcome] = {}
    for outcome in outcomes:
        narrowed = narrowing.narrow(hypotheses, told)
        assert (narrowed.standing is None) or (narrowed.next_check is None)
        if narrowed.next_check is None:
            break
        assert narrowed.next_check.id not in told
        told[narrowed.next_check.id] = outcome
    assert len(told) <= 3 * len(hypotheses)


def test_each_of_n_causes_that_are_as_likely_gets_a_part_of_the_confidence() -> None:
    alone = narrowing.narrow([hypothesis("h0", 3.0)], {})
    five = narrowing.narrow([hypothesis(f"h{n}", 3.0) for n in range(5)], {})
    behind = narrowing.narrow([hypothesis("h0", 3.0), hypothesis("h1", -1.0)], {})

    assert alone.confidence == alone.hypotheses[0].probability
    assert five.confidence == pytest.approx(alone.confidence / 5)
    assert behind.confidence > 0.95 * alone.confidence


def test_rivals_of_one_that_stands_take_nothing_from_its_confidence() -> None:
    rivals = [hypothesis("h0", 1.0), hypothesis("h1", 0.8)]
    settled = narrowing.narrow(rivals, {"h0:0": "as_expected"})

    assert settled.standing is not None
    assert settled.confidence == settled.standing.probability


@pytest.mark.parametrize(
    ("log_odds", "outcomes", "stands"),
    [
        (-2.5, {"h0:0": "unclear", "h0:or:h1": "not_as_expected"}, False),
        (-2.5, {"h0:0": "as_expected", "h0:or:h1": "not_as_expected"}, True),
        (0.0, {"h0:0": "unclear", "h0:or:h1": "not_as_expected"}, True),
    ],
)
def test_an_unlikely_cause_stands_only_if_its_own_sign_is_seen(
    log_odds: float, outcomes: dict[str, narrowing.Outcome], stands: bool
) -> None:
    own = hypothesis("h0", log_odds)
    rival = Check(id="h0:or:h1", about="h1", rival="h0", expect="x")
    rivals = [own.model_copy(update={"checks": [*own.checks, rival]}), hypothesis("h1", -2.6, 0)]

    narrowed = narrowing.narrow(rivals, outcomes)

    assert [one.id for one in narrowed.hypotheses] == ["h0"]
    assert (narrowed.standing is not None) == stands


def test_a_session_of_an_earlier_version_can_be_continued() -> None:
    kept = hypothesis("h0", 1.5).model_dump()
    kept["odds"] = kept.pop("log_odds")

    assert Hypothesis.model_validate(kept).log_odds == 1.5

"""Scores are ordered, bounded and fair; feedback moves a rank only the way it was meant."""

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from contextd.search import Hit
from remediations import reading, scoring
from remediations.models import Remediation
from remediations.reading import Reading
from remediations.scoring import Scores

SHARES = st.floats(0, 1)
COUNTS = st.integers(0, 1000)
TYPES = st.sampled_from(["KeyError", "ImportError", "ModuleNotFoundError", "Boom", ""])
MESSAGES = st.sampled_from(
    ["KeyError", "KeyError: 'pear'", "the queue is stuck", "the queue is stuck\nat its exit", "503"]
)
STACKS = st.lists(st.sampled_from("abcd"), max_size=3, unique=True).map(
    lambda names: "\n".join(f"\tat shop.Cart.{name}(Cart.java:12)" for name in names)
)
READINGS = st.builds(reading.read, MESSAGES, STACKS)


def remediation_of(error_message: str, stack_trace: str, **fields: object) -> Remediation:
    calls = reading.read(error_message, stack_trace).calls
    return Remediation(
        error_message=error_message, stack_trace=stack_trace, calls=list(calls), **fields
    )


REMEDIATIONS = st.builds(
    remediation_of,
    MESSAGES,
    STACKS,
    error_type=TYPES,
    seen_count=st.integers(1, 1000),
    worked=COUNTS,
    did_not_work=COUNTS,
    outdated=COUNTS,
)


@dataclass(frozen=True)
class Case:
    """A search, a remediation, and what the engine says of the two."""

    read: Reading
    remediation: Remediation
    cosine: float | None
    lexical: float
    trigram: float

    @property
    def hit(self) -> Hit:
        headline = reading.read(self.remediation.error_message, "").headline
        return Hit(
            record_id=1,
            headline=headline,
            text="",
            first_line=1,
            last_line=1,
            score=0,
            cosine=self.cosine,
            lexical=self.lexical,
            trigram=self.trigram,
        )

    @property
    def branch(self) -> str:
        if scoring.is_same(self.read, self.hit, self.remediation):
            return "same"
        return "vague" if self.read.is_vague else "similar"

    def scores(self) -> Scores:
        return scoring.score(self.read, self.hit, self.remediation)


CASES = st.builds(Case, READINGS, REMEDIATIONS, st.none() | st.floats(-1, 1), SHARES, SHARES)


@pytest.mark.parametrize("branch", ["same", "vague", "similar"])
def test_the_cases_are_of_every_kind(branch: str) -> None:
    assert find(CASES, lambda case: case.branch == branch).branch == branch


@given(CASES)
def test_all_scores_are_between_0_and_1_and_the_match_is_made_of_the_two(case: Case) -> None:
    scores = case.scores()

    assert 0 <= scores.semantic <= 1
    assert 0 <= scores.string <= 1
    assert 0 < scores.confidence < 1
    assert scores.match == 0.7 * scores.semantic + 0.3 * scores.string
    assert 0 <= scores.match <= 1


@given(CASES, st.sampled_from(["worked", "did_not_work", "outdated"]))
def test_helpful_feedback_never_lowers_a_rank_and_the_other_never_raises_it(
    case: Case, outcome: str
) -> None:
    before = case.scores()
    setattr(case.remediation, outcome, getattr(case.remediation, outcome) + 1)
    after = case.scores()

    if outcome == "worked":
        assert after.rank > before.rank
        assert after.match >= before.match
    else:
        assert after.rank < before.rank
        assert after.match <= before.match


@given(CASES)
def test_what_is_outdated_falls_further_than_what_failed_once(case: Case) -> None:
    case.remediation.did_not_work += 1
    failed = case.scores()
    case.remediation.did_not_work -= 1
    case.remediation.outdated += 1

    assert case.scores().rank < failed.rank


@given(CASES, SHARES, st.sampled_from(["cosine", "lexical", "trigram"]))
def test_more_in_common_is_never_a_worse_match(case: Case, share: float, part: str) -> None:
    low, high = sorted([share, getattr(case, part) or 0.0])

    def match(value: Any) -> float:
        return replace(case, **{part: value}).scores().match

    assert match(low) <= match(high)


def test_equal_matches_are_decided_by_what_is_known_to_work_then_by_how_often_it_was_seen() -> None:
    def scores(confidence: float, seen_count: int, *, same_text: bool = False) -> Scores:
        return Scores(1.0, 1.0, True, True, confidence, seen_count, same_text)

    assert scores(0.5, 1, same_text=True).rank > scores(0.7, 1).rank
    assert scores(0.7, 1).rank > scores(0.6, 9).rank > scores(0.6, 8).rank


def test_the_engine_orders_by_the_same_numbers_but_for_boosts_and_feedback() -> None:
    read = Reading("turbine 4 lost its cooling", "", "", (), "", "")
    remediation = Remediation(error_type="Boom")

    for cosine, lexical, trigram in [(0.5, 0.2, 0.1), (0.3, 0.4, 0.6)]:
        engine = (
            scoring.WEIGHTS.meaning * cosine
            + scoring.WEIGHTS.words * lexical
            + scoring.WEIGHTS.headline * trigram
        )
        match = Case(read, remediation, cosine, lexical, trigram).scores().match
        assert abs(match - scoring.MEANING / 2 - engine) < 1e-9

"""Scores are ordered, bounded and fair; feedback moves a rank only the way it was meant."""

from hypothesis import given
from hypothesis import strategies as st

from contextd.search import Hit
from remediations import scoring
from remediations.models import Remediation
from remediations.reading import Reading
from remediations.scoring import Scores

CALLS = st.lists(st.sampled_from(["a|x.py", "b|x.py", "c|y.py", "d|y.py"]), unique=True)
TYPES = st.sampled_from(["KeyError", "ImportError", "ModuleNotFoundError", "Boom", ""])
SHARES = st.floats(0, 1)
COUNTS = st.integers(0, 1000)


def hit(cosine: float | None, lexical: float, trigram: float) -> Hit:
    return Hit(1, "", "", 1, 1, score=0, cosine=cosine, lexical=lexical, trigram=trigram)


HITS = st.builds(hit, st.none() | st.floats(-1, 1), SHARES, SHARES)
READINGS = st.builds(Reading, st.just(""), st.just(""), TYPES, CALLS.map(tuple), st.just(""))
REMEDIATIONS = st.builds(
    Remediation,
    error_type=TYPES,
    calls=CALLS,
    seen_count=st.integers(1, 1000),
    worked=COUNTS,
    did_not_work=COUNTS,
    outdated=COUNTS,
)


@given(READINGS, HITS, REMEDIATIONS)
def test_all_scores_are_between_0_and_1_and_the_match_is_made_of_the_two(
    read: Reading, hit: Hit, remediation: Remediation
) -> None:
    scores = scoring.score(read, hit, remediation)

    assert 0 <= scores.semantic <= 1
    assert 0 <= scores.string <= 1
    assert 0 < scores.confidence < 1
    assert scores.match == 0.7 * scores.semantic + 0.3 * scores.string
    assert 0 <= scores.match <= 1


@given(READINGS, HITS, REMEDIATIONS, st.sampled_from(["worked", "did_not_work", "outdated"]))
def test_helpful_feedback_never_lowers_a_rank_and_the_other_never_raises_it(
    read: Reading, hit: Hit, remediation: Remediation, outcome: str
) -> None:
    before = scoring.score(read, hit, remediation)
    setattr(remediation, outcome, getattr(remediation, outcome) + 1)
    after = scoring.score(read, hit, remediation)

    if outcome == "worked":
        assert after.rank > before.rank
        assert after.match >= before.match
    else:
        assert after.rank < before.rank
        assert after.match <= before.match


@given(READINGS, HITS, REMEDIATIONS)
def test_what_is_outdated_falls_further_than_what_failed_once(
    read: Reading, hit: Hit, remediation: Remediation
) -> None:
    remediation.did_not_work += 1
    failed = scoring.score(read, hit, remediation)
    remediation.did_not_work -= 1
    remediation.outdated += 1

    assert scoring.score(read, hit, remediation).rank < failed.rank


@given(READINGS, st.lists(SHARES, min_size=4, max_size=4), SHARES, SHARES, REMEDIATIONS)
def test_more_in_common_is_never_a_worse_match(
    read: Reading, bounds: list[float], lexical: float, trigram: float, remediation: Remediation
) -> None:
    low, _, _, high = sorted(bounds)

    def match(cosine: float, words: float, headline: float) -> float:
        return scoring.score(read, hit(cosine, words, headline), remediation).match

    assert match(low, lexical, trigram) <= match(high, lexical, trigram)
    assert match(lexical, low, trigram) <= match(lexical, high, trigram)
    assert match(lexical, trigram, low) <= match(lexical, trigram, high)


def test_equal_matches_are_decided_by_what_is_known_to_work_then_by_how_often_it_was_seen() -> None:
    def scores(confidence: float, seen_count: int, *, same_text: bool = False) -> Scores:
        return Scores(1.0, 1.0, True, True, confidence, seen_count, same_text)

    assert scores(0.5, 1, same_text=True).rank > scores(0.7, 1).rank
    assert scores(0.7, 1).rank > scores(0.6, 9).rank > scores(0.6, 8).rank


def test_the_engine_orders_by_the_same_numbers_but_for_boosts_and_feedback() -> None:
    read = Reading("turbine 4 lost its cooling", "", "", (), "", "")
    remediation = Remediation(error_type="Boom")
    weak, strong = hit(0.5, 0.2, 0.1), hit(0.3, 0.4, 0.6)

    for one in (weak, strong):
        engine = (
            scoring.WEIGHTS.meaning * (one.cosine or 0)
            + scoring.WEIGHTS.words * one.lexical
            + scoring.WEIGHTS.headline * one.trigram
        )
        match = scoring.score(read, one, remediation).match
        assert abs(match - scoring.MEANING / 2 - engine) < 1e-9

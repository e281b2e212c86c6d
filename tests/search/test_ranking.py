from hypothesis import given
from hypothesis import strategies as st

from contextd.search.ranking import RECIPE, Rated, Weights, best_of_records
from contextd.search.trigrams import similarity, trigrams

parts = st.floats(0, 1)
headlines = st.sampled_from(["the port is taken", "the port was taken", "disk full", ""])
passages = st.lists(
    st.builds(Rated, st.integers(1, 9), st.integers(1, 9), headlines, st.none() | parts, parts),
    max_size=30,
)


@given(passages, headlines, st.integers(1, 12))
def test_comparing_only_the_headlines_that_matter_changes_nothing(
    rated: list[Rated], headline: str, limit: int
) -> None:
    few = best_of_records(rated, headline, RECIPE, limit)
    all_compared = best_of_records(rated, headline, RECIPE, len(rated) + 1)

    assert [p.value(RECIPE) for p in few] == [p.value(RECIPE) for p in all_compared[:limit]]


@given(passages, headlines, st.integers(1, 12))
def test_each_record_comes_once_and_the_best_first(
    rated: list[Rated], headline: str, limit: int
) -> None:
    best = best_of_records(rated, headline, RECIPE, limit)
    values = [passage.value(RECIPE) for passage in best]

    assert len({passage.record_id for passage in best}) == len(best)
    assert values == sorted(values, reverse=True)
    assert len(best) == min(limit, len({passage.record_id for passage in rated}))


def test_a_score_is_the_share_of_what_could_be_had() -> None:
    best, worst = Rated(1, 1, "", 1.0, 1.0, 1.0), Rated(2, 2, "", -0.3, 0.0, 0.0)

    assert best.score(RECIPE) == best.score(Weights(meaning=2, words=0.1, headline=0)) == 1
    assert worst.score(RECIPE) == 0


def test_lines_are_compared_as_pg_trgm_does() -> None:
    """The number is what `similarity()` of PostgreSQL says."""
    one, other = trigrams("word two"), trigrams("Two words!")

    assert round(similarity(one, other), 6) == 0.727273
    assert similarity(trigrams(""), trigrams("")) == 0

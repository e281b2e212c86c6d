from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from contextd.search.ranking import RECIPE, Rated, Weights, best_of_records, within_reach

parts = st.floats(0, 1)
passages = st.lists(
    st.builds(Rated, st.integers(1, 9), st.integers(1, 9), st.none() | parts, parts), max_size=30
)


@given(passages, st.data(), st.integers(1, 12))
def test_whatever_the_headlines_are_none_of_the_best_is_out_of_reach(
    rated: list[Rated], data: st.DataObject, limit: int
) -> None:
    near = within_reach(rated, RECIPE, limit, best_of_records)
    likeness = [data.draw(parts) for _ in rated]
    compared = [replace(p, trigram=t) for p, t in zip(rated, likeness, strict=True)]
    compared_near = [c for p, c in zip(rated, compared, strict=True) if any(p is n for n in near)]

    best, best_near = (best_of_records(c, RECIPE, limit) for c in (compared, compared_near))
    assert [p.value(RECIPE) for p in best_near] == [p.value(RECIPE) for p in best]


@given(passages, st.integers(1, 12))
def test_each_record_comes_once_and_the_best_first(rated: list[Rated], limit: int) -> None:
    best = best_of_records(rated, RECIPE, limit)
    values = [passage.value(RECIPE) for passage in best]

    assert len({passage.record_id for passage in best}) == len(best)
    assert values == sorted(values, reverse=True)
    assert len(best) == min(limit, len({passage.record_id for passage in rated}))


def test_a_score_is_the_share_of_what_could_be_had() -> None:
    best, worst = Rated(1, 1, 1.0, 1.0, 1.0), Rated(2, 2, -0.3, 0.0, 0.0)

    assert best.score(RECIPE) == best.score(Weights(meaning=2, words=0.1, headline=0)) == 1
    assert worst.score(RECIPE) == 0


def test_what_is_not_embedded_yet_counts_as_average_so_that_its_words_decide() -> None:
    pending = Rated(1, 1, None, lexical=0.9, meaning=0.3)
    unrelated = Rated(2, 2, 0.45, lexical=0.1, meaning=0.3)
    other_pending = Rated(3, 3, None, lexical=0.0, meaning=0.3)

    best = best_of_records([unrelated, other_pending, pending], RECIPE, 3)
    assert [passage.record_id for passage in best] == [1, 2, 3]

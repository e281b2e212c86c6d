"""Finding with the real model: by words, by meaning, by parts of names, in any script."""

import pytest

from contextd.search.ranking import Weights
from tests.search.conftest import Find, Save, ids

NOTES = {
    1: "The deployment failed because the TLS certificate of the gateway had expired",
    2: "Chose Postgres over MongoDB for the billing service",
    3: "parseInvoiceDate returned None for dates with two-digit years",
    4: "Speed up the nightly build by caching wheels",
    5: "Customers asked for a dark theme in the settings page",
}


@pytest.fixture
def notes(save: Save) -> None:
    for record_id, text in NOTES.items():
        save(record_id, text)


@pytest.mark.parametrize(
    ("query", "record_id"),
    [
        ("MongoDB", 2),
        ("we could not release since an SSL cert was no longer valid", 1),
        ("invoice date", 3),
        ("INVOICE", 3),
        ("wheel cache", 4),
        ("clients wish for black colours", 5),
    ],
)
def test_a_record_is_found_by_word_by_part_of_a_name_or_by_meaning(
    notes: None, find: Find, query: str, record_id: int
) -> None:
    assert ids(find(query))[0] == record_id


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("修复登录页面的错误", "登录"),
        ("Исправлена ошибка при входе в систему", "ОШИБКА"),
        ("Crème brûlée deployment café", "creme cafe"),
        ("स्थापना विफल रही", "विफल"),
        ("로그인 오류를 고쳤다", "오류"),
    ],
)
def test_every_script_is_found_by_its_words(
    notes: None, save: Save, find: Find, text: str, query: str
) -> None:
    save(6, text)
    best = find(query, weights=Weights(meaning=0, headline=0)).hits[0]

    assert best.record_id == 6
    assert best.lexical > 0


def test_a_long_text_is_found_by_its_last_words_and_the_hit_says_where(
    notes: None, save: Save, find: Find
) -> None:
    body = "\n".join(f"Line {number} tells of ordinary matters." for number in range(1, 400))
    save(6, "Long report", body + "\nThe culprit was a zombie heartbeat thread.")
    hit = find("zombie heartbeat").hits[0]

    assert hit.record_id == 6
    assert "zombie heartbeat" in hit.text
    assert hit.last_line == 400
    assert hit.first_line > 370


def test_a_record_is_one_hit_however_many_of_its_passages_fit(save: Save, find: Find) -> None:
    save(1, "Gateway", "\n\n".join(["The gateway timed out again. " * 30] * 5))
    save(2, "Garden", "Roses")

    assert ids(find("gateway timed out")) == [1, 2]


def test_scores_and_their_parts_are_between_0_and_1_and_fall(notes: None, find: Find) -> None:
    hits = find(NOTES[2]).hits

    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[0].record_id == 2
    assert hits[0].score > 0.85
    assert hits[0].trigram == 1
    assert hits[0].cosine == pytest.approx(1, abs=0.01)
    assert hits[0].distance == pytest.approx(0, abs=0.01)
    for hit in hits:
        assert 0 <= hit.score <= 1
        assert 0 <= hit.lexical <= 1
        assert 0 <= hit.trigram <= 1


def test_no_more_are_given_than_asked_for(notes: None, find: Find) -> None:
    assert len(find("the", limit=2).hits) == 2
    assert len(find("the", limit=100).hits) == len(NOTES)


def test_the_error_line_may_be_compared_apart_from_the_query(save: Save, find: Find) -> None:
    save(1, "KeyError: 'user'", "Traceback of the worker")
    save(2, "ValueError: bad date", "Traceback of the worker")
    query = "Traceback of the worker"

    assert ids(find(query, headline="KeyError: 'user'"))[0] == 1
    assert ids(find(query, headline="ValueError: bad data"))[0] == 2


@pytest.mark.parametrize("query", ["", "  \n", "the of and", "?!", "\x00", "zzzqqq"])
def test_a_query_without_known_words_is_answered_too(notes: None, find: Find, query: str) -> None:
    found = find(query)

    assert all(hit.lexical == 0 for hit in found.hits)
    assert bool(found.hits) == bool(query.strip())


def test_nothing_stored_is_nothing_found(find: Find) -> None:
    found = find("anything")

    assert (found.hits, found.pending, found.by_meaning, found.notice) == ([], 0, True, None)


def test_words_that_nothing_has_make_a_match_weaker(notes: None, find: Find) -> None:
    known = find("nightly build").hits[0]
    partly = find("nightly build zzzqqq qqqzzz wwwyyy").hits[0]

    assert known.record_id == partly.record_id == 4
    assert partly.lexical < known.lexical / 2

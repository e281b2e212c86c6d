"""What developers say they build finds the threats that it brings."""

import pytest

from benchmarks import threats as labelled

LEAST_TOP_1, LEAST_TOP_3 = 0.85, 0.95
PLAIN = {
    "video upload validation": {"TMKB-FILE-001", "TMKB-FILE-004"},
    "bulk delete endpoint": {"TMKB-AUTHZ-012"},
    "background jobs": {"TMKB-AUTHZ-001"},
    "soft delete, with undo": {"TMKB-AUTHZ-003"},
    "webhook handler": {"TMKB-HOOK-001"},
    "password reset": {"TMKB-AUTHN-001"},
    "admin dashboard": {"TMKB-AUTHZ-013"},
}


@pytest.mark.usefixtures("transactional_db", "warm_model")
def test_labelled_queries_find_their_threats() -> None:
    labelled.load()
    asked = labelled.ask()
    relevant = [one for one in asked if one.expected]
    first = {one.query: set(one.found[:1]) for one in asked}

    assert len(relevant) >= 100
    assert float(labelled.share(relevant, 1)) >= LEAST_TOP_1
    assert float(labelled.share(relevant, 3)) >= LEAST_TOP_3
    assert sum(bool(one.found) for one in asked if not one.expected) <= 2
    assert [query for query, expected in PLAIN.items() if not first[query] & expected] == []

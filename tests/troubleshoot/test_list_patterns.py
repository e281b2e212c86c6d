"""`list_patterns`: what is known, the most helpful first."""

from typing import get_args

from remediations.models import Severity
from tests.conftest import Call
from tests.troubleshoot.conftest import DISK_FULL
from troubleshoot import knowledge
from troubleshoot.models import Category, Pattern

Known = dict[str, Pattern]


def keys(call: Call, **wanted: object) -> list[str]:
    return [pattern.id for pattern in call("list_patterns", **wanted).patterns]


def test_those_that_helped_come_first(call: Call, known: Known) -> None:
    Pattern.objects.filter(key="module-missing").update(worked=3)
    Pattern.objects.filter(key="disk-full").update(did_not_work=3)

    assert keys(call) == ["module-missing", "inodes-gone", "disk-full"]


def test_a_fix_that_destroys_is_marked(call: Call, known: Known) -> None:
    patterns = {pattern.id: pattern for pattern in call("list_patterns").patterns}

    assert patterns["disk-full"].is_destructive
    assert "it deletes /var/log/shop/old" in patterns["disk-full"].safety_warnings[0]
    assert not patterns["inodes-gone"].is_destructive


def test_they_are_filtered(call: Call, known: Known) -> None:
    Pattern.objects.filter(key="disk-full").update(did_not_work=3)

    assert keys(call, category="dependency") == ["module-missing"]
    assert keys(call, severity="high") == ["disk-full"]
    assert keys(call, min_success_rate=0.4) == ["inodes-gone", "module-missing"]
    assert keys(call, category="network") == []


def test_more_fit_than_are_shown(call: Call, known: Known) -> None:
    listed = call("list_patterns", limit=1)

    assert (len(listed.patterns), listed.total) == (1, 3)


def test_each_is_told_whole(call: Call, known: Known) -> None:
    call("troubleshoot", error_message=DISK_FULL)

    pattern = next(p for p in call("list_patterns").patterns if p.id == "disk-full")

    assert pattern.error_pattern == DISK_FULL
    assert pattern.root_cause == known["disk-full"].cause
    assert pattern.solution.startswith("1. See what takes the room: du -sh /var/lib/*\n2. Delete")
    assert (pattern.success_rate, pattern.tried, pattern.usage_count) == (0.5, 0, 1)
    assert pattern.last_used
    assert pattern.tags == ["linux", "disk"]


def test_patterns_are_filtered_by_the_categories_and_severities_that_are_stored() -> None:
    assert get_args(knowledge.CategoryName) == tuple(Category.values)
    assert set(get_args(knowledge.SeverityName)) == set(Severity.values)

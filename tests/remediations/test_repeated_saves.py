"""A fix that is saved again strengthens and completes the remediation that is known."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from remediations.models import Remediation
from tests.conftest import Call

BOOM = {"error_message": "boom", "error_type": "Boom", "solution": "restart"}
REFUSED = BOOM | {"error_message": "connection refused by database"}
STACK = "goroutine 1 [running]:\nmain.{}()\n\t/w/shop/main.go:12 +0x1d"


SPARSE = REFUSED | {"tags": ["database"]}
COMPLETE = REFUSED | {
    "stack_trace": STACK.format("main"),
    "tags": ["go", "database"],
    "severity": "high",
    "context": {"branch": "main"},
}


@pytest.mark.parametrize("saves", [(SPARSE, COMPLETE), (COMPLETE, SPARSE)])
def test_an_error_without_its_stack_is_the_same_and_gets_what_it_lacks(
    call: Call, saves: tuple[dict[str, Any], ...]
) -> None:
    for given in saves:
        saved = call("remediation_save", **given)

    kept = Remediation.objects.get()
    assert (kept.seen_count, saved.seen_count) == (2, 2)
    assert (kept.stack_trace, kept.calls) == (COMPLETE["stack_trace"], ["main.main|main.go"])
    assert (set(kept.tags), kept.severity) == ({"go", "database"}, "high")
    assert kept.context == {"branch": "main"}
    asked = {name: COMPLETE[name] for name in ("error_message", "stack_trace", "tags")}
    (match,) = call("remediation_search", **asked).results
    assert (match.match_score, match.stack_trace_match) == (1, True)


@pytest.mark.parametrize(
    ("given", "added"),
    [
        ({}, "Nothing else changed"),
        ({"tags": ["a"]}, "Nothing else changed"),
        ({"tags": ["b", "a"], "severity": "low"}, "added what it lacked: severity, tags."),
        ({"stack_trace": STACK.format("main")}, "added what it lacked: stack_trace."),
    ],
)
def test_what_a_second_save_adds_is_said(call: Call, given: dict[str, Any], added: str) -> None:
    call("remediation_save", **REFUSED, tags=["a"])

    assert added in call("remediation_save", **REFUSED | given).notice


def test_a_second_save_changes_nothing_that_is_known(call: Call) -> None:
    known = {"severity": "low", "context": {"branch": "main"}, "tags": [f"t{n}" for n in range(20)]}
    call("remediation_save", **REFUSED, **known)
    call("remediation_save", **REFUSED, severity="high", context={"branch": "next"}, tags=["more"])

    kept = Remediation.objects.get()
    assert {name: getattr(kept, name) for name in known} == known


@pytest.mark.parametrize("stacks", [("", "main", "run"), ("main", "", "run"), ("main", "run", "")])
def test_the_order_of_saves_does_not_matter(call: Call, stacks: tuple[str, ...]) -> None:
    for name in stacks:
        call("remediation_save", **REFUSED, stack_trace=STACK.format(name) if name else "")

    kept = Remediation.objects.all()
    assert {tuple(one.calls) for one in kept} == {("main.main|main.go",), ("main.run|main.go",)}
    assert sorted(one.seen_count for one in kept) == [1, 2]


def delete_all() -> None:
    """Delete in another connection, so that it is committed at once."""
    Remediation.objects.all().delete()
    connection.close()


def test_one_that_is_deleted_while_it_is_saved_again_is_saved_anew(call: Call) -> None:
    first = call("remediation_save", **BOOM)
    deletions = [delete_all]

    def delete_before_locking(execute: Any, sql: str, *rest: Any) -> Any:
        if "FOR UPDATE" in sql and "remediation" in sql and deletions:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(deletions.pop()).result()
        return execute(sql, *rest)

    with connection.execute_wrapper(delete_before_locking):
        again = call("remediation_save", **BOOM)

    assert again.id != first.id
    assert Remediation.objects.get().seen_count == 1


@pytest.mark.parametrize(
    "other",
    [
        {"error_message": "bang"},
        {"error_type": "Bang"},
        {"solution": "reinstall"},
        {"project_path": "/w/shop"},
    ],
)
def test_another_error_without_a_stack_is_kept_apart(call: Call, other: dict[str, str]) -> None:
    call("remediation_save", **REFUSED, stack_trace=STACK.format("main"))
    call("remediation_save", **REFUSED | other)

    assert [kept.seen_count for kept in Remediation.objects.all()] == [1, 1]


def test_other_stacks_are_other_errors(call: Call) -> None:
    for name in ("main", "run"):
        call("remediation_save", **REFUSED, stack_trace=STACK.format(name))

    assert Remediation.objects.count() == 2


def test_a_vague_error_without_its_stack_is_kept_apart(call: Call) -> None:
    call("remediation_save", **BOOM, stack_trace=STACK.format("main"))
    call("remediation_save", **BOOM)

    assert Remediation.objects.count() == 2


def test_savers_at_the_same_time_make_one_record(call: Call, settings: Any) -> None:
    settings.CONTEXTD_RATE_LIMITS = False

    def save_it(_: int) -> None:
        try:
            call("remediation_save", **BOOM)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(save_it, range(12)))

    assert Remediation.objects.get().seen_count == 12

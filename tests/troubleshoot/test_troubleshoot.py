"""`troubleshoot`: an error becomes causes with evidence, checks and safe steps."""

import dataclasses
from typing import Any

import pytest

from contextd import pipeline
from contextd.callers import Caller, Entry
from contextd.errors import Invalid
from remediations.models import Remediation
from tests.conftest import Call
from tests.troubleshoot.conftest import DISK_FULL, Know
from troubleshoot.models import Diagnosis, Pattern

Known = dict[str, Pattern]


def ids(result: Any) -> list[str]:
    return [hypothesis.id for hypothesis in result.hypotheses]


def test_a_known_error_is_explained(call: Call, known: Known) -> None:
    result = call("troubleshoot", error_message="shutil.Error: No space left on device: 'a.zip'")

    assert result.root_cause == known["disk-full"].cause
    assert (result.category, result.severity) == ("storage", "high")
    assert ids(result)[0] == "disk-full"
    assert result.diagnostic_steps[0] == "Run `df -h /var/lib/shop` and expect: Use% is 100"


def test_the_evidence_is_told(call: Call, known: Known) -> None:
    stack = 'Traceback (most recent call last):\n  File "/srv/shop/save.py", line 9, in keep\n'
    result = call("troubleshoot", error_message=DISK_FULL, stack_trace=stack + DISK_FULL)

    evidence = " ".join(result.hypotheses[0].evidence)
    assert "“No space left on device”" in evidence
    assert "keep in /srv/shop/save.py:9" in evidence
    assert "kind: disk full" in evidence
    assert "Words in common" in evidence


def test_an_unknown_error_says_so_with_steps_for_its_kind(call: Call, known: Known) -> None:
    result = call("troubleshoot", error_message="turbine 4: flux inversion, deadline exceeded")

    assert result.root_cause.startswith("Unknown: nothing that is known fits this error well.")
    assert "“timeout”" in result.root_cause
    assert (result.confidence, result.category) == ("low", "network")
    assert any("does the name resolve" in step for step in result.diagnostic_steps)
    assert "save the fix" in result.recommended_actions[-1].description


def test_a_single_weak_match_stays_low(call: Call, know: Know) -> None:
    know("module-missing")

    result = call("troubleshoot", error_message="the module of the rover has not moved")

    assert result.confidence == "low"
    assert result.confidence_score < 0.25


def test_where_nothing_is_known_there_is_still_an_answer(call: Call, know: Know) -> None:
    result = call("troubleshoot", error_message="KeyError: 'x'")

    assert (result.hypotheses, result.similar_issues) == ([], [])
    assert result.notice.startswith("The knowledge base is empty")
    assert result.confidence_score == 0
    assert result.recommended_actions


def test_what_destroys_is_marked_and_comes_last(call: Call, known: Known) -> None:
    result = call("troubleshoot", error_message=DISK_FULL)

    marks = [action.destructive for action in result.recommended_actions]
    last = result.recommended_actions[-1]
    issue = next(issue for issue in result.similar_issues if issue.id == "disk-full")
    assert marks == sorted(marks)
    assert last.commands == ["rm -rf /var/log/shop/old"]
    assert "it deletes /var/log/shop/old" in last.safety_notes
    assert issue.is_destructive
    assert "Delete the old logs" in issue.safety_warnings[0]


def test_rivals_are_told_apart(call: Call, known: Known) -> None:
    result = call("troubleshoot", error_message=DISK_FULL)

    steps = " ".join(result.hypotheses[0].verification_steps)
    assert "Rather “The file system has no free inodes”: df -i shows" in steps


def test_two_causes_that_are_as_likely_take_confidence_from_each_other(
    call: Call, known: Known
) -> None:
    clear = call("troubleshoot", error_message="ModuleNotFoundError: No module named 'toml'")
    unclear = call("troubleshoot", error_message="touch: cannot touch 'x': No space left on device")

    assert ids(unclear)[0] == "inodes-gone"
    assert unclear.confidence_score < unclear.hypotheses[0].probability
    assert clear.confidence_score > unclear.confidence_score


# Its probability is far enough from 1 that more evidence shows.
SHORT_OF_SPACE = "the spool did not take the letter (os error 28)"


def test_a_past_fix_joins_the_cause_it_is_a_case_of(call: Call, know: Know) -> None:
    know("disk-full", signatures=["os error 28"])
    error = SHORT_OF_SPACE
    before = call("troubleshoot", error_message=error).hypotheses[0].probability
    call(
        "remediation_save",
        error_message=error,
        error_type="ENOSPC",
        solution="Moved the spool to the big disk",
    )
    result = call("troubleshoot", error_message=error)

    assert "Moved the spool" in " ".join(result.hypotheses[0].evidence)
    assert "Moved the spool" in result.recommended_actions[1].description
    assert result.hypotheses[0].probability > before
    assert "remediation" in {issue.source for issue in result.similar_issues}
    assert not any(one.startswith("remediation:") for one in ids(result))


def test_a_past_fix_of_an_error_no_pattern_explains_is_a_cause_of_its_own(
    call: Call, known: Known
) -> None:
    error = "warp coil 7 desynchronised: phase drift of 12 degrees"
    fix = "Restart the coil controller; `rm -rf /var/warp/cache` when that is not enough"
    saved = call("remediation_save", error_message=error, error_type="WarpError", solution=fix)

    result = call("troubleshoot", error_message=error)

    assert ids(result)[0] == f"remediation:{saved.id}"
    assert result.root_cause == f"The same as an error that was fixed before: {error}"
    assert result.recommended_actions[-1].destructive


WARP = "warp coil 7 desynchronised: phase drift of 12 degrees"


@pytest.mark.parametrize(
    ("ratings", "confidence"),
    [
        ({}, "high"),
        ({"did_not_work": 1}, "medium"),
        ({"did_not_work": 5}, "low"),
        ({"outdated": 2}, "low"),
        ({"worked": 5, "did_not_work": 1}, "high"),
    ],
)
def test_a_fix_that_failed_is_not_called_the_cause(
    call: Call, known: Known, ratings: dict[str, int], confidence: str
) -> None:
    call("remediation_save", error_message=WARP, error_type="WarpError", solution="reboot")
    Remediation.objects.update(**ratings)

    result = call("troubleshoot", error_message=WARP)

    assert result.confidence == confidence
    assert result.root_cause.startswith("Unknown") == (confidence == "low")


def test_the_evidence_of_a_destructive_fix_warns_of_it(call: Call, known: Known) -> None:
    fix = "rm -rf /var/warp/cache\nThen restart it."
    call("remediation_save", error_message=WARP, error_type="WarpError", solution=fix)

    evidence = call("troubleshoot", error_message=WARP).hypotheses[0].evidence[0]

    assert evidence.endswith(
        ": rm -rf /var/warp/cache (Careful: it deletes /var/warp/cache with all that is in there.)"
    )


def test_the_ratings_of_a_past_fix_are_reported(call: Call, known: Known) -> None:
    saved = call("remediation_save", error_message=WARP, error_type="WarpError", solution="reboot")
    Remediation.objects.update(did_not_work=1, outdated=1)

    evidence = call("troubleshoot", error_message=WARP).hypotheses[0].evidence

    assert evidence[0] == (
        f"Tried before (remediation {saved.id}, seen 1 times, worked in 0 of 1 reported cases, "
        "was reported as outdated): reboot"
    )


def test_a_past_fix_that_failed_comes_after_the_known_fix_and_adds_nothing(
    call: Call, know: Know
) -> None:
    know("disk-full", signatures=["os error 28"])
    error = SHORT_OF_SPACE
    before = call("troubleshoot", error_message=error).hypotheses[0].probability
    fixes = ["Reboot the machine", "Moved the spool", "Freed the cache"]
    for fix in fixes:
        call("remediation_save", error_message=error, error_type="ENOSPC", solution=fix)
    Remediation.objects.filter(solution=fixes[2]).update(worked=3)
    Remediation.objects.filter(solution=fixes[0]).update(did_not_work=3)
    both = call("troubleshoot", error_message=error)
    Remediation.objects.update(worked=0, did_not_work=3)
    failed = call("troubleshoot", error_message=error)

    safe = [action.description for action in both.recommended_actions if not action.destructive]
    assert safe[1:] == ["Freed the cache", "Moved the spool", "See what takes the room", fixes[0]]
    assert (
        both.recommended_actions[1].expected_outcome == "Before, it worked in 3 of 3 reported cases"
    )
    assert failed.hypotheses[0].probability == before < both.hypotheses[0].probability


def test_fixes_of_projects_that_the_caller_does_not_see_stay_hidden(
    call: Call, known: Known, caller: Caller
) -> None:
    error = "warp coil 7 desynchronised: phase drift of 12 degrees"
    fields = {"error_type": "WarpError", "solution": "secret", "project_path": "/w/warp"}
    call("remediation_save", error_message=error, **fields)
    stranger = dataclasses.replace(caller, entry=Entry(projects=frozenset()))

    seen: Any = pipeline.call("troubleshoot", {"error_message": error}, stranger)

    assert "secret" not in seen.model_dump_json()
    assert "secret" in call("troubleshoot", error_message=error).model_dump_json()


def test_the_callers_words_about_the_cause_count(call: Call, known: Known) -> None:
    error = "upload failed: the device has no space left"
    plain, told, otherwise = (
        call("troubleshoot", error_message=error, **more).hypotheses[0].probability
        for more in ({}, {"category": "storage", "tags": ["Disk"]}, {"category": "network"})
    )

    assert told > plain > otherwise


@pytest.mark.parametrize(
    ("fits", "contradicts"),
    [
        ({"python": "3.12.1"}, {"python": "3.11"}),
        ({"python_version": "v3.13"}, {"Python version": "Python 3.9.2 (main)"}),
        ({"runtime": "Python 3.12"}, {"runtime": "CPython, python/3.8"}),
    ],
)
def test_a_given_version_counts_where_it_decides(
    call: Call, know: Know, fits: dict[str, str], contradicts: dict[str, str]
) -> None:
    know("module-missing", versions={"python": ">=3.12"})
    other = {"python_package": "2.1", "pip": "24.0", "shell": "python"}
    told, silent, contradicted = (
        call("troubleshoot", error_message="No module named 'imp'", context=context).hypotheses[0]
        for context in (fits, other, contradicts)
    )

    assert told.probability > silent.probability > contradicted.probability
    assert "one where it happens: python >=3.12" in " ".join(told.evidence)
    assert "one where it happens" not in " ".join(silent.evidence)


def test_a_pattern_that_helped_is_likelier_than_one_that_did_not(call: Call, know: Know) -> None:
    pattern = know("disk-full")
    probabilities = []
    for worked, did_not in ((0, 5), (0, 0), (5, 0)):
        Pattern.objects.filter(pk=pattern.pk).update(worked=worked, did_not_work=did_not)
        result = call("troubleshoot", error_message="no space on the device is left")
        probabilities.append(result.hypotheses[0].probability if result.hypotheses else 0.0)

    assert probabilities == sorted(set(probabilities))


def test_the_session_is_kept_without_credentials(call: Call, known: Known) -> None:
    result = call(
        "troubleshoot",
        error_message="could not connect to postgresql://app:s3cretpass@db/shop",
        context={"python": "3.12", "os": "linux"},
        tags=["db", "db"],
    )

    kept = Diagnosis.objects.get(pk=result.session_id)
    assert result.redacted == 1
    assert "s3cretpass" not in kept.error_message
    assert (kept.facts, kept.tags) == ({"python": "3.12", "os": "linux"}, ["db"])
    assert (kept.principal, kept.status) == ("tester", "open")


def test_only_the_likeliest_counts_as_used(call: Call, known: Known) -> None:
    call("troubleshoot", error_message=DISK_FULL)

    used = dict(Pattern.objects.values_list("key", "used_count"))
    assert used == {"disk-full": 1, "inodes-gone": 0, "module-missing": 0}


def test_drafts_take_no_part(call: Call, know: Know) -> None:
    know("disk-full", is_draft=True)

    assert call("troubleshoot", error_message=DISK_FULL).hypotheses == []


def test_so_many_similar_issues_as_are_asked_for(call: Call, known: Known) -> None:
    assert len(call("troubleshoot", error_message=DISK_FULL, top_k=1).similar_issues) == 1
    assert len(call("troubleshoot", error_message=DISK_FULL, top_k=0).similar_issues) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "error_message is required"),
        ({"error_message": " "}, "error_message is required"),
        ({"error_message": "x", "mode": "magic"}, "mode must be one of"),
        ({"error_message": "x", "category": "food"}, "category must be one of"),
        ({"error_message": "x" * 10_001}, "error_message has 10001 characters, at most 10000"),
    ],
)
def test_what_is_wrong_is_said(call: Call, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(Invalid, match=message):
        call("troubleshoot", **arguments)

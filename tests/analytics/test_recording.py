"""What is kept of calls, and that keeping it costs them nothing."""

import dataclasses
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from analytics import recording
from analytics.models import Event, WorkSession
from analytics.recording import Finished
from contextd import operations
from contextd.callers import Caller
from contextd.errors import NotFound
from contextd.models import Project
from contextd.notes import Notes
from tests.analytics.conftest import Happened, in_session
from tests.conftest import Call
from tests.pages.test_record_page import make_file
from tests.server import eventually
from tests.threats.conftest import few, load_from
from threats.models import Threat
from troubleshoot import curating
from troubleshoot.models import Pattern

__all__ = ["few", "load_from"]

MOST_MILLISECONDS = 0.5
WARP: dict[str, Any] = {
    "title": "The warp core is cold",
    "category": "resource",
    "severity": "high",
    "technologies": ["general"],
    "errors": ["E: the warp core is cold"],
    "signatures": ["warp core"],
    "cause": "Nobody heated the core.",
    "confirm": [],
    "fix": [{"do": "Heat it", "run": "", "destructive": False}],
}


def finished(caller: Caller, minutes: float = 0) -> Finished:
    at = timezone.now() + timedelta(minutes=minutes)
    return Finished(at, "status", caller, "ok", 0.01, Notes(), None)


def test_a_call_is_one_event(counted: Call) -> None:
    saved = counted("checkpoint_save", summary="Began", project_path="/w/shop")
    with pytest.raises(NotFound):
        counted("checkpoint_get", id="999")

    made, failed = Event.objects.order_by("pk")
    assert (made.operation, made.outcome, made.door) == ("checkpoint_save", "ok", "cli")
    assert made.project == Project.objects.get()
    assert made.milliseconds > 0
    assert (failed.operation, failed.outcome, failed.project) == (
        "checkpoint_get",
        "not_found",
        None,
    )
    assert saved.id


def test_reading_a_record_is_about_its_project(counted: Call) -> None:
    saved = counted("checkpoint_save", summary="Began", project_path="/w/shop")

    counted("checkpoint_get", id=saved.id)

    read = Event.objects.get(operation="checkpoint_get")
    assert (read.project, read.domain, read.used) == (
        Project.objects.get(),
        "checkpoint",
        int(saved.id),
    )


def test_a_search_tells_what_it_searched_and_returned(counted: Call) -> None:
    ids = [
        counted("checkpoint_save", summary=f"Wrote the parser, part {n}", project_path="/w/a").id
        for n in range(3)
    ]

    counted("checkpoint_search", query="parser token=ghp_16C7e42F292c6912E7710c838347Ae178B4a")
    counted("checkpoint_search", query="parser, asked for here alone")
    counted("checkpoint_search", query="parser, asked for here alone", tags=["none has this"])

    first, second, third = Event.objects.filter(operation="checkpoint_search").order_by("pk")
    assert set(first.found or []) == {int(pk) for pk in ids}
    assert "ghp_" not in first.query
    assert second.query == "parser, asked for here alone"
    assert (second.searched_tokens or 0) >= 3
    assert (second.returned_tokens or 0) > 10
    assert (second.lookups, second.cached, third.cached) == (1, 0, 1)
    assert third.found == []


def test_results_no_more_like_the_query_than_unrelated_texts_answer_nothing(
    counted: Call,
) -> None:
    counted("checkpoint_save", summary="Login works, tests next", project_path="/w/a")

    found = counted("checkpoint_search", query="bake a chocolate cake")

    assert [one.score < 0.1 for one in found.results] == [True]
    (event,) = Event.objects.unanswered()
    assert (event.found, event.returned) == ([], 0)


def test_threats_are_found_although_no_number_names_them(counted: Call, few: Path) -> None:
    work = "Build a SQL query from what the user typed"
    counted("tmkb_query", context=work)
    counted("threat_checklist", areas=[work])
    counted("threats_for_files", paths=["orders/views.py"])
    counted("threat_get", id="TMKB-INJ-001")

    *searches, read = Event.objects.order_by("pk")
    kept = set(Threat.objects.values_list("pk", flat=True))
    for event in searches:
        assert event.domain == "threat"
        assert event.found
        assert set(event.found) <= kept
        assert event.returned == len(event.found)
        assert event.was_useful is (read.used in event.found or None)
    assert searches[0].was_useful is True


def test_files_are_found_although_no_number_names_them(counted: Call) -> None:
    counted("checkpoint_save", summary="Began", project_path="/w/shop")
    file = make_file()
    counted("repository_search", query="Cart")
    counted("checkpoint_search", query="Cart", kind="file")
    counted("repository_search", query="Cart", languages=["rust"])

    _, files, as_checkpoints, nothing = Event.objects.order_by("pk")
    assert (files.domain, files.found, files.returned) == ("file", [file.pk], 1)
    assert (as_checkpoints.domain, as_checkpoints.returned) == ("file", 1)
    assert list(Event.objects.unanswered()) == [nothing]
    report = counted("analytics_get")
    assert (report.samples.searches, report.samples.answered, report.judged_searches) == (3, 2, 1)


def test_who_looks_twice_in_the_same_has_searched_it_once(counted: Call, few: Path) -> None:
    counted("threat_checklist", areas=["a webhook"])
    counted("threat_checklist", areas=["a webhook", "an export", "a log in"])

    once, thrice = Event.objects.order_by("pk")
    assert once.searched_tokens == thrice.searched_tokens


def test_a_search_is_useful_when_a_result_is_used_in_the_same_session(
    counted: Call, counted_as: Any, caller: Caller
) -> None:
    saved = counted("checkpoint_save", summary="Wrote the parser", project_path="/w/a").id
    counted("checkpoint_search", query="parser")
    search = Event.objects.get(operation="checkpoint_search")

    counted_as(in_session(caller, "another"), "checkpoint_get", id=saved)
    search.refresh_from_db()
    assert search.was_useful is None

    counted("checkpoint_get", id=saved)
    search.refresh_from_db()
    assert search.was_useful is True


def test_what_was_thrown_away_or_failed_did_not_help(
    counted: Call, happened: Happened, caller: Caller
) -> None:
    saved = counted("checkpoint_save", summary="Wrote the parser", project_path="/w/a").id
    counted("checkpoint_search", query="parser")
    search = Event.objects.get(operation="checkpoint_search")
    about: dict[str, Any] = {"session": search.session, "domain": "checkpoint"}
    happened("checkpoint_update", used=int(saved), outcome="timeout", helped=True, **about)

    counted("checkpoint_delete", id=saved)

    search.refresh_from_db()
    assert search.was_useful is None
    assert Event.objects.get(operation="checkpoint_delete").used is None


@pytest.mark.parametrize(
    ("outcome", "was_useful"), [("worked", True), ("did_not_work", False), ("outdated", False)]
)
def test_what_is_said_of_a_result_goes_before_that_it_was_read(
    counted: Call, outcome: str, was_useful: bool
) -> None:
    fix = {"error_message": "KeyError: 'price'", "error_type": "KeyError", "solution": "Set it"}
    saved = counted("remediation_save", **fix).id
    counted("remediation_search", error_message="KeyError: 'price'")

    counted("remediation_get", id=saved)
    counted("remediation_feedback", id=saved, outcome=outcome)

    assert Event.objects.get(operation="remediation_search").was_useful is was_useful


@pytest.mark.parametrize(
    ("said", "was_useful"),
    [
        ({"worked": True}, True),
        ({"worked": False}, False),
        ({"worked": True, "fixed_by": "Warmed it, as recommended"}, True),
        ({"worked": False, "fixed_by": "Something else"}, False),
    ],
)
def test_what_is_said_of_a_diagnosis_judges_it(
    counted: Call, said: dict[str, Any], was_useful: bool
) -> None:
    curating.save(Pattern(key="warp-cold", **WARP))
    asked = counted("troubleshoot", error_message="E: the warp core is cold")
    counted("troubleshoot_feedback", session_id=asked.session_id, **said)

    event = Event.objects.get(operation="troubleshoot")
    assert (event.domain, event.found) == ("diagnosis", [int(asked.session_id)])
    assert event.was_useful is was_useful
    assert counted("analytics_get").search_precision == float(was_useful)


@pytest.mark.django_db
def test_a_session_ends_with_a_pause_of_half_an_hour(caller: Caller) -> None:
    other = in_session(caller, "other")

    recording.write([finished(caller, at) for at in (0, 29, 58, 89)] + [finished(other)])
    recording.write([finished(caller, 100), finished(caller, 200)])

    sessions = WorkSession.objects.filter(key=caller.connection).order_by("began_at")
    assert [session.calls for session in sessions] == [3, 2, 1]
    assert WorkSession.objects.get(key="other").calls == 1


@pytest.mark.django_db
def test_clients_may_call_themselves_anything(caller: Caller) -> None:
    strange = dataclasses.replace(caller, client="a\x00b\ud800" + "c" * 300, connection="s" * 500)

    recording.write([finished(strange)])

    assert Event.objects.get().client.startswith("abc")


def test_keeping_a_call_costs_it_less_than_half_a_millisecond(caller: Caller) -> None:
    status = operations.get("status")
    began = time.process_time()
    for _ in range(1000):
        recording.note(status, caller, "ok", 0.01, Notes(), None)
    spent = time.process_time() - began

    assert spent < MOST_MILLISECONDS


def test_calls_are_written_without_being_asked(
    counted: Call, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording.buffer, "seconds", 0.01)

    call("status")

    assert eventually(Event.objects.filter(operation="status").exists)


def test_a_call_succeeds_when_it_cannot_be_counted(
    counted: Call, caplog: pytest.LogCaptureFixture
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE analytics_event RENAME TO away")
    try:
        assert counted("status").version
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE away RENAME TO analytics_event")

    assert "1 counted calls are lost" in caplog.text

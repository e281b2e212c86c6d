import dataclasses
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from analytics import tallying
from analytics.models import Event
from contextd import operations, pipeline
from contextd.callers import Caller, Entry
from contextd.errors import Invalid
from contextd.models import Project
from tests.analytics.conftest import Happened
from tests.conftest import Call

SEED = {
    "period": str,
    "start_date": str,
    "end_date": str,
    "total_sessions": int,
    "avg_token_reduction_pct": float,
    "total_time_saved_min": float,
    "search_precision": float,
    "estimated_cost_save_usd": float,
    "top_features": list,
    "performance": dict,
}


def test_every_field_that_clients_expect_is_there(counted: Call) -> None:
    counted("checkpoint_save", summary="Wrote the parser", project_path="/w/a")
    counted("checkpoint_search", query="parser")

    report = counted("analytics_get").model_dump(mode="json")

    for name, kind in SEED.items():
        assert isinstance(report[name], kind), name
    assert report["period"] == "weekly"
    assert set(report["top_features"][0]) == {
        "feature",
        "count",
        "avg_latency_ms",
        "success_rate",
    }
    assert set(report["performance"]) == {
        "avg_search_latency_ms",
        "avg_checkpoint_latency_ms",
        "cache_hit_rate",
        "overall_success_rate",
    }


def test_without_calls_nothing_is_made_up(call: Call) -> None:
    report = call("analytics_get")

    assert (report.total_sessions, report.top_features) == (0, [])
    assert report.avg_token_reduction_pct is None
    assert report.total_time_saved_min is None
    assert report.search_precision is None
    assert report.estimated_cost_save_usd is None
    assert set(dict(report.performance).values()) == {None}
    assert report.estimates.sample_size == 0


def test_figures_are_worked_out_from_the_calls(
    call: Call, happened: Happened, settings: Any
) -> None:
    settings.CONTEXTD_TOKEN_PRICE, settings.CONTEXTD_MINUTES_SAVED = 10.0, 3.0
    settings.CONTEXTD_READING_LIMIT = 5000
    found: dict[str, Any] = {"domain": "checkpoint", "searched_tokens": 10_000, "lookups": 1}
    happened("checkpoint_search", found=[1], returned_tokens=1000, was_useful=True, **found)
    happened("checkpoint_search", found=[1], returned_tokens=3000, cached=1, **found)
    happened("checkpoint_search", found=[], returned_tokens=50, **found)
    happened("checkpoint_search", milliseconds=0.5, outcome="invalid")
    happened("checkpoint_save", milliseconds=40.0)
    happened("checkpoint_save", milliseconds=20.0, outcome="timeout")

    report = call("analytics_get", period="daily")

    assert report.avg_token_reduction_pct == pytest.approx((90 + 70) / 2)
    assert report.search_precision == pytest.approx(1 / 3)
    assert report.total_time_saved_min == pytest.approx(3.0)
    assert report.estimated_cost_save_usd == pytest.approx((5000 - 1000) * 10 / 1_000_000)
    assert report.performance.avg_search_latency_ms == pytest.approx(10)
    assert report.performance.avg_checkpoint_latency_ms == pytest.approx(30)
    assert report.performance.cache_hit_rate == pytest.approx(1 / 3)
    assert report.performance.overall_success_rate == pytest.approx(4 / 6)
    assert [(one.feature, one.count, one.success_rate) for one in report.top_features] == [
        ("checkpoint_search", 4, 0.75),
        ("checkpoint_save", 2, 0.5),
    ]
    assert dict(report.estimates) == {
        "usd_per_million_tokens": 10.0,
        "reading_limit_tokens": 5000,
        "minutes_per_useful_search": 3.0,
        "sample_size": 1,
    }
    assert dict(report.samples) == {"calls": 6, "searches": 3, "answered": 2, "lookups": 3}


def test_an_answer_longer_than_what_was_searched_spares_nothing(
    call: Call, happened: Happened
) -> None:
    happened("skill_search", found=[1], was_useful=True, searched_tokens=10, returned_tokens=500)

    report = call("analytics_get")

    assert report.avg_token_reduction_pct == 0
    assert report.estimated_cost_save_usd == 0


@pytest.mark.parametrize(
    ("period", "calls"), [("daily", 2), ("weekly", 3), ("monthly", 4), ("all-time", 5)]
)
def test_a_period_reaches_so_many_days_back(
    call: Call, happened: Happened, period: str, calls: int
) -> None:
    for days in (0, 1, 7, 30, 400):
        happened("status", days_ago=days)

    report = call("analytics_get", period=period)

    assert (report.samples.calls, report.total_sessions) == (calls, calls)
    assert report.period == period


def test_dates_go_before_the_period(call: Call, happened: Happened) -> None:
    for days in (1, 2, 3, 4):
        happened("status", days_ago=days)
    today = timezone.now().date()

    report = call(
        "analytics_get",
        period="all-time",
        start_date=str(today - timedelta(days=3)),
        end_date=str(today - timedelta(days=2)),
    )

    assert report.samples.calls == 2
    assert report.start_date.date() == today - timedelta(days=3)
    assert report.end_date.date() == today - timedelta(days=1)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"period": "hourly"}, "period"),
        ({"start_date": "last week"}, "start_date"),
        ({"start_date": "2026-02-30"}, "start_date"),
        ({"start_date": "2026-02-02", "end_date": "2026-01-02"}, "start_date"),
        ({"start_date": "2999-01-01"}, "start_date"),
        ({"project_path": "w/a"}, "project_path"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(
    call: Call, arguments: dict[str, str], field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        call("analytics_get", **arguments)

    assert refused.value.details["field"] == field


def test_only_one_project(counted: Call) -> None:
    counted("checkpoint_save", summary="One", project_path="/w/a")
    counted("checkpoint_save", summary="Two", project_path="/w/b")
    counted("status")

    report = counted("analytics_get", project_path="/w/a/src")
    nothing = counted("analytics_get", project_path="/w/never")

    assert (report.samples.calls, report.total_sessions) == (1, 1)
    assert (nothing.samples.calls, nothing.total_sessions) == (0, 0)


def test_callers_see_figures_of_their_projects_only(
    call: Call, caller: Caller, happened: Happened
) -> None:
    mine, other = (Project.objects.create(name=name) for name in ("mine", "other"))
    happened("checkpoint_save", project=mine)
    happened("checkpoint_save", project=other)
    happened("status", context="backend")
    happened("status", context="frontend")
    Event.objects.filter(project=mine).get().session.delete()
    happened("checkpoint_get", project=mine)
    entry = Entry(name="backend", projects=frozenset([mine.pk]))

    report = pipeline.call("analytics_get", {}, dataclasses.replace(caller, entry=entry))

    assert [(one.feature, one.count) for one in report.top_features] == [  # type: ignore[attr-defined]
        ("checkpoint_get", 1),
        ("status", 1),
    ]


def test_all_time_begins_with_the_first_call_that_the_caller_may_see(
    caller: Caller, happened: Happened
) -> None:
    seen, hidden = (Project.objects.create(name=name) for name in ("seen", "hidden"))
    happened("status", days_ago=400, project=hidden)
    tallying.tally(Event.objects.get().at.date())
    happened("status", days_ago=200, project=hidden)
    happened("status", days_ago=3, project=seen)
    entry = Entry(name="backend", projects=frozenset([seen.pk]))

    report: Any = pipeline.call(
        "analytics_get", {"period": "all-time"}, dataclasses.replace(caller, entry=entry)
    )

    assert report.start_date.date() == timezone.now().date() - timedelta(days=3)


def test_searches_whose_use_is_unknown_save_nothing_that_can_be_estimated(
    call: Call, happened: Happened
) -> None:
    happened("repository_search", found=[1], searched_tokens=100, returned_tokens=10)

    report = call("analytics_get")

    assert (report.samples.searches, report.judged_searches) == (1, 0)
    assert report.search_precision is None
    assert report.total_time_saved_min is None
    assert report.estimated_cost_save_usd is None
    assert report.avg_token_reduction_pct == pytest.approx(90)


def test_it_is_declared_as_published() -> None:
    declared = operations.get("analytics_get")

    assert (declared.timeout, declared.effect) == (30, "read")
    assert set(declared.request.model_fields) == {
        "period",
        "project_path",
        "start_date",
        "end_date",
    }

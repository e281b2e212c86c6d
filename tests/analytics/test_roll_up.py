"""What stays of calls when they are over."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analytics import recording, tallying, tasks
from analytics.models import Event, Tally, WorkSession
from contextd import projects
from contextd.models import Project
from tests.analytics.conftest import Happened
from tests.conftest import Call

pytestmark = pytest.mark.django_db


def figures(call: Call) -> dict[str, Any]:
    report = call("analytics_get", period="all-time").model_dump(exclude={"end_date"})
    return dict(report)


def test_figures_stay_the_same_when_days_are_added_up(call: Call, happened: Happened) -> None:
    project = Project.objects.create(name="shop")
    search = {"domain": "skill", "searched_tokens": 900, "returned_tokens": 90, "lookups": 1}
    for days in (0, 1, 1, 5, 5):
        happened("skill_search", days_ago=days, found=[1], was_useful=True, **search)
        happened("skill_search", days_ago=days, found=[], project=project, cached=1, **search)
        happened("status", days_ago=days, outcome="internal", milliseconds=300.0)
    before = figures(call)

    tasks.roll_up()

    assert figures(call) == before
    assert set(Tally.objects.values_list("calls", flat=True)) == {2}
    assert not Tally.objects.filter(day=timezone.now().date()).exists()


def test_days_are_added_up_once(happened: Happened) -> None:
    happened("status", days_ago=9)
    tasks.roll_up()
    happened("status", days_ago=1)

    tasks.roll_up()
    tasks.roll_up()

    assert sum(Tally.objects.values_list("calls", flat=True)) == 2


def test_old_calls_are_forgotten_and_their_figures_are_not(
    call: Call, happened: Happened, settings: Any
) -> None:
    settings.CONTEXTD_EVENTS_DAYS = 30
    for days in (29, 31, 60):
        happened("status", days_ago=days)
    before = figures(call)

    tasks.roll_up()

    assert Event.objects.get().at > timezone.now() - timedelta(days=30)
    assert figures(call) == before
    assert WorkSession.objects.filter(key="", principal="", client="").count() == 2


def test_old_calls_are_deleted_in_batches(
    happened: Happened, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CONTEXTD_EVENTS_DAYS = 30
    monkeypatch.setattr(recording, "ROWS_AT_ONCE", 2)
    for _ in range(5):
        happened("status", days_ago=40)

    with CaptureQueriesContext(connection) as captured:
        tasks.roll_up()

    assert not Event.objects.exists()
    assert WorkSession.objects.filter(key="").count() == 5
    deleted = [one for one in captured.captured_queries if one["sql"].startswith("DELETE")]
    assert len(deleted) > 2


@pytest.mark.django_db(transaction=True)
def test_days_stay_added_up_if_the_deletion_fails(
    happened: Happened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(moment: datetime) -> None:
        raise OperationalError

    monkeypatch.setattr(recording, "forget_before", fail)
    for days in (1, 2):
        happened("status", days_ago=days)

    with pytest.raises(OperationalError):
        tasks.roll_up()

    assert Tally.objects.count() == 2


def test_beat_knows_the_task_that_does_it(settings: Any) -> None:
    from celery import current_app

    names = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert "analytics.tasks.roll_up" in names & set(current_app.tasks)


def test_figures_of_merged_projects_add_up(call: Call, happened: Happened) -> None:
    kept, absorbed = (Project.objects.create(name=name) for name in ("kept", "absorbed"))
    for project in (kept, absorbed):
        happened("status", days_ago=2, project=project)
        happened("status", project=project)
    happened("skill_search", days_ago=2, project=absorbed)
    WorkSession.objects.update(projects=[absorbed.pk])
    tasks.roll_up()

    projects.merge(kept, absorbed)

    assert dict(Tally.objects.values_list("operation", "calls")) == {
        "status": 2,
        "skill_search": 1,
    }
    assert set(Event.objects.values_list("project", flat=True)) == {kept.pk}
    assert {tuple(one.projects) for one in WorkSession.objects.all()} == {(kept.pk,)}


def test_percentiles_are_as_near_as_the_buckets(happened: Happened) -> None:
    for milliseconds in (0.1, 10.0, 10.0, 100.0):
        happened("status", days_ago=1, milliseconds=milliseconds)
    happened("status", milliseconds=1e9)
    tasks.roll_up()
    now = timezone.now()

    latencies = tallying.calls_between(now - timedelta(days=7), now).latencies()["status"]

    assert sum(latencies) == 5
    assert tallying.percentile(latencies, 0.5) == pytest.approx(10, rel=0.19)
    assert tallying.percentile(latencies, 0.8) == pytest.approx(100, rel=0.19)
    assert tallying.percentile([0] * 72, 0.5) is None

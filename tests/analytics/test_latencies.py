"""Latency percentiles over REST."""

import pytest

from analytics import tasks
from tests.analytics.conftest import Happened
from tests.analytics.test_dashboard_api import Get, get

__all__ = ["get"]

pytestmark = pytest.mark.django_db


def test_latencies_of_all_operations(get: Get, happened: Happened) -> None:
    for number in range(9):
        happened(f"operation_{number}", milliseconds=100.0)
    happened("status")
    happened("status", days_ago=2, milliseconds=1000.0)
    tasks.roll_up()

    rows = get("latencies/").json()

    assert (rows[0]["operation"], rows[0]["calls"], len(rows)) == ("status", 2, 10)
    assert rows[0]["p50"] == pytest.approx(10, rel=0.19)
    assert rows[0]["p99"] == pytest.approx(1000, rel=0.19)
    (one,) = get("latencies/", {"operation": "operation_3"}).json()
    assert one["p95"] == pytest.approx(100, rel=0.19)

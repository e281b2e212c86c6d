"""What the charts of the home page draw."""

from typing import Any

from analytics.overview import Overview


def series_of(shown: Overview) -> dict[str, Any]:
    """The tables beside the charts say the same."""
    return {
        "calls": {
            "labels": [f"{day.day:%b %d}" for day in shown.days],
            "Calls": [day.calls for day in shown.days],
            "Failed": [day.failures for day in shown.days],
        },
        "latencies": {
            "labels": [one.operation for one in shown.latencies],
            "p50": [one.half for one in shown.latencies],
            "p95": [one.most for one in shown.latencies],
            "p99": [one.nearly_all for one in shown.latencies],
        },
    }

"""Series for the charts of the home page."""

from typing import Any

from analytics.overview import Overview


def series_of(shown: Overview) -> dict[str, Any]:
    """Return the series by chart; the tables next to the charts show the same numbers."""
    return {
        "calls": {
            "labels": [f"{day.day:%b %d}" for day in shown.days],
            "Calls": [day.calls for day in shown.days],
            "Failed": [day.failures for day in shown.days],
        },
        "latencies": {
            "labels": [one.operation for one in shown.latencies],
            "p50": [one.p50 for one in shown.latencies],
            "p95": [one.p95 for one in shown.latencies],
            "p99": [one.p99 for one in shown.latencies],
        },
    }

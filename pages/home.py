"""Series for the charts of the home page."""

from typing import Any

from analytics.overview import Overview

MAX_BARS = 8


def series_of(shown: Overview) -> dict[str, Any]:
    """Return the series by chart; the tables next to the charts show the same numbers, or more."""
    charted = shown.latencies[:MAX_BARS]
    return {
        "calls": {
            "labels": [f"{day.day:%b %d}" for day in shown.days],
            "Calls": [day.calls for day in shown.days],
            "Failed": [day.failures for day in shown.days],
        },
        "latencies": {
            "labels": [one.operation for one in charted],
            "p50": [one.p50 for one in charted],
            "p95": [one.p95 for one in charted],
            "p99": [one.p99 for one in charted],
        },
    }

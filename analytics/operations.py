"""The operation of analytics."""

from datetime import date, datetime
from typing import Annotated

from pydantic import Field

from analytics import services
from contextd.callers import Caller
from contextd.operations import Request, Result, operation
from contextd.validation import AbsolutePath


class GetAnalytics(Request):
    """Get figures about the use of contextd, its success, and the estimated savings."""

    period: Annotated[
        services.PeriodName,
        Field(description="Period: the last 1, 7 or 30 days and today so far, or all time"),
    ] = "weekly"
    project_path: Annotated[
        AbsolutePath | None, Field(description="Only calls about this project (absolute path)")
    ] = None
    start_date: Annotated[
        date | None, Field(description="First day (YYYY-MM-DD, UTC); overrides the period")
    ] = None
    end_date: Annotated[
        date | None, Field(description="Last day (YYYY-MM-DD, UTC); by default today")
    ] = None


class FeatureUse(Result):
    feature: Annotated[str, Field(description="Name of the operation")]
    count: int
    avg_latency_ms: float | None
    success_rate: Annotated[float | None, Field(description="Share of calls that succeeded")]


class PerformanceFigures(Result):
    avg_search_latency_ms: Annotated[
        float | None, Field(description="Mean of the calls that searched")
    ]
    avg_checkpoint_latency_ms: Annotated[
        float | None, Field(description="Mean of all calls of checkpoint_save")
    ]
    cache_hit_rate: Annotated[
        float | None, Field(description="Share of query embeddings found in the cache")
    ]
    overall_success_rate: float | None


class Assumptions(Result):
    usd_per_million_tokens: float
    reading_limit_tokens: Annotated[
        int, Field(description="Most tokens that would have been read instead of a search")
    ]
    minutes_per_useful_search: float
    sample_size: Annotated[
        int, Field(description="Searches with a result that was used afterwards")
    ]


class SampleSizes(Result):
    calls: int
    searches: int
    answered: Annotated[int, Field(description="Searches that found something")]
    lookups: Annotated[int, Field(description="Queries that needed an embedding")]


class AnalyticsReport(Result):
    period: str
    start_date: datetime
    end_date: datetime
    total_sessions: int
    avg_token_reduction_pct: Annotated[
        float | None,
        Field(description="Reduction from what was searched to what was returned, in percent"),
    ]
    total_time_saved_min: Annotated[
        float | None, Field(description="An estimate; see estimates for its assumptions")
    ]
    search_precision: Annotated[
        float | None,
        Field(description="Share of searches with a result that was used afterwards and helped"),
    ]
    judged_searches: Annotated[
        int, Field(description="Number of searches on which search_precision is based")
    ]
    estimated_cost_save_usd: Annotated[
        float | None, Field(description="An estimate; see estimates for its assumptions")
    ]
    top_features: list[FeatureUse]
    performance: PerformanceFigures
    estimates: Assumptions
    samples: SampleSizes


@operation("analytics_get", effect="read", timeout=30)
def get(caller: Caller, request: GetAnalytics) -> AnalyticsReport:
    return AnalyticsReport.model_validate(services.report(caller, **dict(request)))

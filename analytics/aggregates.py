"""Sums over calls.

The aggregates are plain SQL: Django takes three times as long to compile its own.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db.models import Aggregate, BigIntegerField, Field, Func, IntegerField

from analytics.models import BUCKETS


class Bucket(Func):
    """The bucket number of a latency."""

    # The natural logarithm is a hundred times faster than that of `numeric` to any base.
    template = f"LEAST(CEIL(LN(GREATEST(milliseconds, 1)) * {4 / math.log(2)}), {BUCKETS - 1})::int"
    output_field = IntegerField()


class SumOfArrays(Aggregate):
    """Add up arrays by element, as vectors: it takes half the time of one SUM per element."""

    template = "SUM(%(expressions)s::vector)::real[]::bigint[]"
    output_field = ArrayField(BigIntegerField())


def aggregate(sql: str) -> Aggregate:
    return Aggregate(template=sql, output_field=Field())


class Sums(NamedTuple):
    """Sums over calls; the fields are those of a Tally."""

    calls: int = 0
    failures: int = 0
    search_milliseconds: float = 0
    milliseconds: float = 0
    searches: int = 0
    answered: int = 0
    useful: int = 0
    reduction: float = 0
    spared_tokens: int = 0
    lookups: int = 0
    cached: int = 0

    @property
    def mean_milliseconds(self) -> float | None:
        return ratio(self.milliseconds, self.calls)

    @property
    def success_rate(self) -> float | None:
        return ratio(self.calls - self.failures, self.calls)


def ratio(part: float, whole: float) -> float | None:
    """Return the ratio; None if the whole is zero."""
    return part / whole if whole else None


def added(sums: Iterable[Sums]) -> Sums:
    return Sums._make(map(sum, zip(Sums(), *sums, strict=True)))


def of_tallies() -> dict[str, Aggregate]:
    """Return the fields of Sums for tallies, under other names than the tallies' own."""
    types = {
        name: "bigint" if kind is int else "float" for name, kind in Sums.__annotations__.items()
    }
    return {f"sum_{name}": aggregate(f"SUM({name})::{type}") for name, type in types.items()}


def of_events() -> dict[str, Aggregate]:
    """Return the fields of Sums for events."""
    limit = int(settings.CONTEXTD_READING_LIMIT)
    # The reduction from searched to returned tokens in percent.
    reduction = "GREATEST(100 - returned_tokens * 100.0::float / NULLIF(searched_tokens, 0), 0)"
    # The tokens nobody had to read: those searched, up to what one would have read.
    spared = f"GREATEST(LEAST(searched_tokens, {limit}) - returned_tokens, 0)"
    found, used = "FILTER (WHERE returned > 0)", "FILTER (WHERE was_useful)"
    searched = "FILTER (WHERE found IS NOT NULL)"
    statements = {
        "calls": "COUNT(*)",
        "failures": "COUNT(*) FILTER (WHERE outcome <> 'ok')",
        "search_milliseconds": f"COALESCE(SUM(milliseconds) {searched}, 0)",
        "milliseconds": "SUM(milliseconds)",
        "searches": f"COUNT(*) {searched}",
        "answered": f"COUNT(*) {found}",
        "useful": f"COUNT(*) {used}",
        "reduction": f"COALESCE(SUM({reduction}) {found}, 0)",
        "spared_tokens": f"COALESCE(SUM({spared}) {used}, 0)::bigint",
        "lookups": "SUM(lookups)",
        "cached": "SUM(cached)",
    }
    return {name: aggregate(statements[name]) for name in Sums._fields}

"""How often a caller may call, and how long a call may take."""

import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import timedelta
from fractions import Fraction
from functools import cache
from typing import Any, TypeVar

from django.conf import settings
from django.db import OperationalError, connection
from django.db import transaction as django_transaction
from psycopg.errors import QueryCanceled
from redis.exceptions import RedisError
from throttled import RateLimiterType, Throttled, rate_limiter, store
from throttled.exceptions import StoreUnavailableError

from contextd import logs
from contextd.callers import Caller
from contextd.errors import Busy, RateLimited, TimedOut
from contextd.operations import Operation
from contextd.rates import MAX_PERIOD_SECONDS, Rate

PRINCIPAL_RATE = Rate(50, burst=100)
RECORDED_REFUSAL_RATE = Rate(1, burst=30)
MAX_QUERY_SECONDS = 30.0
MAX_ATTEMPTS = 10
LOOKUP_SECONDS = 5
"""Time limit for internal look-ups, such as that of a token or a session."""
NO_OPTIONS: Mapping[str, str | int] = {}

T = TypeVar("T")

logger = logging.getLogger(__name__)
_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


def throttle(operation: Operation, caller: Caller) -> None:
    """Take a token of this connection and tool, and one of the caller; refuse if either is out.

    A context's rate overrides the tool's own. The buckets are GCRA, the token bucket stored as one
    timestamp, in Redis: shared by all processes.
    """
    if settings.CONTEXTD_RATE_LIMITS:
        rate = caller.entry.rate or operation.rate
        refusal = f"rate limit exceeded for tool: {operation.name}"
        _take(f"{caller.connection}:{operation.name}", rate, refusal)
        _take(caller.principal, PRINCIPAL_RATE, refusal)


def may_record_refusal(principal: str) -> bool:
    """Return whether to record one more refusal of the principal, which must not fill the audit."""
    if settings.CONTEXTD_RATE_LIMITS:
        return _seconds_to_wait(f"refused:{principal}", RECORDED_REFUSAL_RATE) is None
    return True


def _take(key: str, rate: Rate, refusal: str) -> None:
    seconds = _seconds_to_wait(key, rate)
    if seconds is not None:
        raise RateLimited(refusal, retry_after=seconds)


def _seconds_to_wait(key: str, rate: Rate) -> float | None:
    """Take a token of the bucket; if it is empty, return when the next one is available."""
    try:
        taken = _bucket(rate).limit(key)
    except (RedisError, StoreUnavailableError):
        logs.warn_seldom(logger, "rate limits are off: Redis does not answer (REDIS_URL)")
        return None
    return round(taken.state.retry_after, 3) if taken.limited else None


@cache
def _bucket(rate: Rate) -> Throttled:
    # The library counts whole calls in whole seconds.
    calls = Fraction(rate.per_second).limit_denominator(MAX_PERIOD_SECONDS)
    period = timedelta(seconds=calls.denominator)
    quota = rate_limiter.per_duration(period, calls.numerator, burst=rate.burst)
    redis = store.RedisStore(
        server=settings.REDIS_URL, options={"SOCKET_TIMEOUT": 1, "SOCKET_CONNECT_TIMEOUT": 1}
    )
    return Throttled(
        using=RateLimiterType.GCRA.value,
        quota=quota,
        store=redis,
        # A caller whose rate is changed starts with a fresh bucket.
        key_prefix=f"contextd:rate:{rate.per_second:g}:{rate.burst}",
    )


class Stale(Exception):
    """The record changed between reading and locking it; the transaction is rolled back."""


def retried(attempt: Callable[[], T]) -> T:
    """Repeat an optimistic change until no concurrent change interferes.

    Raise Busy after `MAX_ATTEMPTS`.
    """
    for _ in range(MAX_ATTEMPTS):
        with suppress(Stale):
            return attempt()
    raise Busy("this record is being changed concurrently; try again later")


def time_left() -> float:
    """Return the seconds until the running operation must answer, as timeout for other services."""
    return max(0.0, _deadline.get() - time.monotonic())


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Limit the block to that many seconds, and to the time left of the enclosing block.

    A query that is cancelled at the deadline becomes `TimedOut`.
    """
    token = _deadline.set(min(_deadline.get(), time.monotonic() + seconds))
    try:
        yield
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TimedOut(f"no answer within {seconds:g} s") from None
        raise
    finally:
        _deadline.reset(token)


@contextmanager
def transaction() -> Iterator[None]:
    """Open a transaction whose statements the database cancels when the operation's time is up."""
    with django_transaction.atomic():
        left = _time_for_statements()
        if left != math.inf:
            _cancel_statements_after(left)
        yield


def _time_for_statements() -> float:
    left = time_left()
    if left == 0:  # the database would read 0 as no limit
        raise TimedOut("the time for this operation ran out before the database was asked")
    return left


def _cancel_statements_after(seconds: float) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('statement_timeout', %s, true)", [str(math.ceil(seconds * 1000))]
        )


def rows(
    query: str,
    parameters: Sequence[Any] | Mapping[str, Any],
    options: Mapping[str, str | int] = NO_OPTIONS,
) -> list[tuple[Any, ...]]:
    """Return the rows of a query that every call needs, in one round trip within the time left.

    `options` are PostgreSQL settings for this query, inserted literally.
    """
    milliseconds = math.ceil(min(_time_for_statements(), MAX_QUERY_SECONDS) * 1000)
    options = {**options, "statement_timeout": milliseconds}
    # Sent together, they are one transaction; the settings end with it.
    local = [f"SET LOCAL {name} = {value};" for name, value in options.items()]
    with connection.cursor() as cursor:
        cursor.execute(f"{' '.join(local)} {query}", parameters)
        for _ in local:
            cursor.nextset()
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found

"""Rate limits of pages and of endpoints that are not operations."""

import logging
import unicodedata
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django_ratelimit.core import get_usage
from redis.exceptions import RedisError

from contextd import http_errors, logs
from contextd.errors import RateLimited

View = Callable[..., HttpResponse]

NAMES_AT_ONE_ADDRESS = 10

logger = logging.getLogger(__name__)


def take(request: HttpRequest, group: str, key: str, rate: str) -> None:
    """Count the request. Raise RateLimited if there were too many, such as `10/m` allows."""
    if not settings.CONTEXTD_RATE_LIMITS:
        return
    try:
        usage = get_usage(request, group=group, key=lambda *_: key, rate=rate, increment=True)
    except RedisError:
        logs.warn_seldom(logger, "rate limits are off: Redis does not answer (REDIS_URL)")
        return
    if usage and usage["should_limit"]:
        raise RateLimited(
            "too many requests; wait a little", retry_after=max(1, usage["time_left"])
        )


def slowed(view: View, rate: str) -> View:
    """Limit the attempts of a login view; further attempts are answered with 429.

    Attempts count by user name and address. Failures also count by address alone, with a higher
    limit. A correct password passes the latter: behind a proxy, all people share one address, and
    none of them may lock the others out.
    """
    number, _, period = rate.partition("/")
    rate_of_address = f"{NAMES_AT_ONE_ADDRESS * int(number)}/{period}"

    @wraps(view)
    def slow(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            if request.method == "POST":
                take(request, "login of one", f"{address_of(request)} {name_in(request)}", rate)
            response = view(request, *args, **kwargs)
            if request.method == "POST" and not request.user.is_authenticated:
                take(request, "login", address_of(request), rate_of_address)
        except RateLimited as error:
            text = f"Too many attempts. Try again in {error.seconds_to_wait} seconds."
            headers = http_errors.headers_of(error)
            return HttpResponse(text, status=error.status, headers=headers)
        return response

    return slow


def address_of(request: HttpRequest) -> str:
    return str(request.META.get("REMOTE_ADDR", ""))


def name_in(request: HttpRequest) -> str:
    """Return the attempted user name, normalized as the login form does."""
    return unicodedata.normalize("NFKC", request.POST.get("username", "")).strip().lower()

"""How often pages and addresses that are no operations may be asked for."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django_ratelimit.core import get_usage
from redis.exceptions import RedisError

from contextd import logs
from contextd.errors import RateLimited

View = Callable[..., HttpResponse]

NAMES_AT_ONE_ADDRESS = 10

logger = logging.getLogger(__name__)


def take(request: HttpRequest, group: str, key: str, rate: str) -> None:
    """Count the request; raises RateLimited where there were too many, such as `10/m`."""
    if not settings.CONTEXTD_RATE_LIMITS:
        return
    try:
        usage = get_usage(request, group=group, key=lambda *_: key, rate=rate, increment=True)
    except RedisError:
        logs.warn_seldom(logger, "rate limits are off: Redis does not answer (REDIS_URL)")
        return
    if usage and usage["should_limit"]:
        raise RateLimited("too many requests; wait a little", retry_after=usage["time_left"])


def slowed(view: View, rate: str) -> View:
    """The view of a login, for so many attempts; more are answered with 429.

    They count by user name and address: behind a proxy all people have its address, so that nobody
    may keep the others out. From one address come at most so many times as many.
    """
    number, _, period = rate.partition("/")
    rate_of_address = f"{NAMES_AT_ONE_ADDRESS * int(number)}/{period}"

    @wraps(view)
    def slow(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            if request.method == "POST":
                address = request.META.get("REMOTE_ADDR", "")
                name = request.POST.get("username", "").strip().lower()
                take(request, "login of one", f"{address} {name}", rate)
                take(request, "login", address, rate_of_address)
        except RateLimited as error:
            wait = str(error.seconds_to_wait)
            text = f"Too many attempts. Try again in {wait} seconds."
            return HttpResponse(text, status=429, headers={"Retry-After": wait})
        return view(request, *args, **kwargs)

    return slow

"""The HTTP headers of errors."""

from contextd import protected_resource
from contextd.errors import ContextdError, RateLimited, WrongMethod


def headers_of(error: ContextdError) -> dict[str, str]:
    """Return its headers: when to retry, which methods are allowed, how to authenticate."""
    headers = {}
    if isinstance(error, RateLimited):
        headers["Retry-After"] = str(error.seconds_to_wait)
    if isinstance(error, WrongMethod):
        headers["Allow"] = ", ".join(error.details["allowed"])
    if error.status == 401:
        headers["WWW-Authenticate"] = protected_resource.challenge()
    return headers

"""Every failure that callers may see; anything else is a bug and becomes `Internal`."""

import logging
import math
import uuid
from typing import Any, ClassVar

logger = logging.getLogger(__name__)


class ContextdError(Exception):
    """A failure that is safe to show; its message is self-contained and says what to do."""

    category: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    is_refusal: ClassVar[bool] = False
    """Whether the caller lacks a permission or exceeds its rate."""

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    @property
    def text(self) -> str:
        """The text that clients show: `[validation] summary is required`."""
        return f"[{self.category}] {self.message}"

    def as_dict(self) -> dict[str, Any]:
        return {"category": self.category, "message": self.message, "details": self.details}


class Invalid(ContextdError):
    """The arguments violate the operation's contract; `details` has `field` and `error`."""

    category, status = "validation", 400


class Refused(Invalid):
    """`Invalid` with the exact wording of a published contract, always returned as a result."""

    @property
    def text(self) -> str:
        return self.message


class NotFound(ContextdError):
    category, status = "not_found", 404


class NotAuthenticated(ContextdError):
    """The credential is required but missing, or it is not valid."""

    category, status = "unauthorized", 401
    is_refusal = True


class NotAllowed(ContextdError):
    """The caller is known and may not do this."""

    category, status = "unauthorized", 403
    is_refusal = True


class Declined(NotAllowed):
    """The person who was asked did not agree."""

    is_refusal = False


class WrongMethod(Invalid):
    """The address does not support the HTTP method; `details["allowed"]` are those it supports."""

    status = 405


class Unsupported(Invalid):
    """The caller's program lacks a required ability; `details["ability"]` names it."""


class TimedOut(ContextdError):
    category, status = "timeout", 504


class Busy(ContextdError):
    """All workers are busy and the queue is full; the call was not started."""

    category, status = "timeout", 503


class Unavailable(ContextdError):
    """Only `status` can be used now."""

    category, status = "internal", 503


class UpstreamFailed(ContextdError):
    """Another server failed or cannot be reached; `details["cause"]` is all it reported."""

    category, status = "internal", 502


class RateLimited(ContextdError):
    """Too many calls; `details["retry_after"]` is the number of seconds to wait."""

    category, status = "rate_limited", 429
    is_refusal = True

    @property
    def text(self) -> str:
        return self.message

    @property
    def seconds_to_wait(self) -> int:
        """The seconds in HTTP's form: a whole number, at least one."""
        return max(1, math.ceil(float(self.details["retry_after"])))


class Internal(ContextdError):
    """What a caller sees of a bug: a reference to look up in the log, nothing else."""


def report_bug(what: str, error: Exception) -> Internal:
    """Log an unexpected exception; return the error that the caller may see."""
    reference = uuid.uuid4().hex[:12]
    logger.error("%s failed, reference %s", what, reference, exc_info=error)
    return Internal(
        f"something went wrong on our side; the log has it under reference {reference}",
        reference=reference,
    )

"""Every failure that callers may see; anything else is a bug and becomes `Internal`."""

import logging
import math
import uuid
from typing import Any, ClassVar

logger = logging.getLogger(__name__)


class ContextdError(Exception):
    """A failure that is safe to show; its message stands alone and says what to do."""

    category: ClassVar[str] = "internal"
    status: ClassVar[int] = 500

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    @property
    def text(self) -> str:
        """What a client shows: `[validation] summary is required`."""
        return f"[{self.category}] {self.message}"

    def as_dict(self) -> dict[str, Any]:
        return {"category": self.category, "message": self.message, "details": self.details}


class Invalid(ContextdError):
    """The arguments break the operation's contract; `details` has `field` and `error`."""

    category, status = "validation", 400


class Refused(Invalid):
    """`Invalid` in the words of a published contract: they stand bare, as a result everywhere."""

    @property
    def text(self) -> str:
        return self.message


class NotFound(ContextdError):
    category, status = "not_found", 404


class NotAuthenticated(ContextdError):
    """The credential is missing where one is needed, or it is not valid."""

    category, status = "unauthorized", 401


class NotAllowed(ContextdError):
    """The caller is known and may not do this."""

    category, status = "unauthorized", 403


class Declined(NotAllowed):
    """The person who was asked did not agree."""


class Unsupported(Invalid):
    """The caller's program lacks what is needed; `details["ability"]` names it."""


class TimedOut(ContextdError):
    category, status = "timeout", 504


class Busy(ContextdError):
    """All workers are busy and the queue is full; the call was not started."""

    category, status = "timeout", 503


class Unavailable(ContextdError):
    """Nothing but `status` can be done now."""

    category, status = "internal", 503


class UpstreamFailed(ContextdError):
    """Another server failed or is not there; `details["cause"]` is all that it said."""

    category, status = "internal", 502


class RateLimited(ContextdError):
    """Too many calls; `details["retry_after"]` is the number of seconds to wait."""

    category, status = "rate_limited", 429

    @property
    def text(self) -> str:
        return self.message

    @property
    def seconds_to_wait(self) -> int:
        """As HTTP has them: whole ones, at least one."""
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

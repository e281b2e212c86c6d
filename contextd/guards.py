"""The checks that every call must pass before it runs."""

from functools import cache
from typing import Any, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from contextd import outages, redaction
from contextd.callers import Caller
from contextd.errors import Invalid, NotAllowed, Unavailable
from contextd.operations import Operation, Request

ALWAYS_AVAILABLE = "status"


class Policy(Protocol):
    """Raises NotAllowed if the caller may not use the operation."""

    def __call__(self, operation: Operation, caller: Caller) -> None: ...


def authorize(operation: Operation, caller: Caller) -> None:
    """Raise NotAllowed, or Unavailable while the caller's permissions cannot be looked up."""
    if caller.entry.is_fallback and operation.name != ALWAYS_AVAILABLE:
        raise Unavailable(outages.NO_ANSWER)
    _policy()(operation, caller)


def may_use(operation: Operation, caller: Caller) -> bool:
    """Return whether to list the operation for the caller."""
    try:
        authorize(operation, caller)
    except NotAllowed:
        return False
    return True


@cache
def _policy() -> Policy:
    policy: Policy = import_string(settings.CONTEXTD_POLICY)
    return policy


def redact(operation: Operation, request: Request) -> tuple[Request, int]:
    """Return the request without credentials, if it will be stored, and how many were replaced."""
    if not operation.redacts:
        return request, 0
    values: dict[str, Any] = request.model_dump(exclude_unset=True)
    redacted = redaction.redact_value(values)
    if not redacted.findings:
        return request, 0
    try:
        return operation.parse(redacted.value), len(redacted.findings)
    except Invalid as error:  # a mark may be longer than the credential it replaces
        raise Invalid(
            f"{error.message}, after a credential in it was replaced; leave the credential out",
            **error.details,
        ) from None

"""The only way an operation runs, whichever door it came in by."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from contextd import errors, guards, limits, operations, telemetry
from contextd.callers import Caller
from contextd.errors import ContextdError, Internal
from contextd.operations import Operation, Result
from contextd.signals import operation_finished


def call(name: str, arguments: dict[str, Any], caller: Caller) -> Result:
    """Check, run and record one call.

    Raises ContextdError, and nothing else: a bug becomes `Internal`, logged under the
    reference that the caller is given.
    """
    operation = operations.get(name)
    with telemetry.operation_span(operation, caller), _announced(operation, caller):
        try:
            return run(operation, arguments, caller)
        except ContextdError:
            raise
        except Exception as error:
            raise errors.conceal(name, error) from None


def run(operation: Operation, arguments: dict[str, Any], caller: Caller) -> Result:
    guards.authorize(operation, caller)
    limits.throttle(operation, caller)
    request = operation.parse(arguments)
    request, redacted = guards.redact(operation, request)
    transaction = limits.transaction if operation.atomic else nullcontext
    with limits.deadline(operation.timeout), transaction():
        result = operation.handler(caller, request)
    return result.model_copy(update={"redacted": redacted}) if redacted else result


@contextmanager
def _announced(operation: Operation, caller: Caller) -> Iterator[None]:
    """Tell the listeners of `operation_finished` how the block ended and how long it took."""
    started = time.perf_counter()
    category = Internal.category
    try:
        yield
        category = "ok"
    except ContextdError as error:
        category = error.category
        raise
    finally:
        operation_finished.send_robust(
            sender=Operation,
            operation=operation,
            caller=caller,
            category=category,
            seconds=time.perf_counter() - started,
        )

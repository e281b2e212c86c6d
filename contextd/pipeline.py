"""The only way an operation runs, whichever door it came in by."""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from functools import partial
from typing import Any

from django.db import OperationalError, close_old_connections

from contextd import guards, limits, notes, operations, outages, telemetry
from contextd.callers import Caller
from contextd.conversations import Alone, Conversation, Detached, Interim, do_and_let_go
from contextd.errors import ContextdError, Internal, TimedOut
from contextd.operations import Operation, Request, Result
from contextd.signals import operation_finished

_recorder = ThreadPoolExecutor(1, thread_name_prefix="recorder")


def call(
    name: str,
    arguments: dict[str, Any],
    caller: Caller,
    conversation: Conversation | None = None,
) -> Result:
    """Check, run and record one call of an operation that is offered as a tool.

    Raises ContextdError, and nothing else: a bug becomes `Internal`, logged under the
    reference that the caller is given.
    """
    return perform(operations.get(name), arguments, caller, conversation)


def perform(
    operation: Operation,
    arguments: dict[str, Any],
    caller: Caller,
    conversation: Conversation | None = None,
) -> Result:
    """`call` for an operation at hand, whatever it is offered as."""
    if operation.waits:
        close_old_connections()  # nobody else could use this thread's until the wait is over
        return asyncio.run(converse(operation, arguments, caller, conversation or Alone()))
    record = Record(operation, caller)
    with notes.taken_in(record.notes), telemetry.operation_span(operation, caller):
        try:
            with record.judging():
                record.result = run(operation, arguments, caller)
            return record.result
        finally:
            record.announce()


def reach(operation: Operation, arguments: dict[str, Any], caller: Caller) -> Result:
    """What a call would come to, for a question of our own: neither limited nor recorded."""
    guards.authorize(operation, caller)
    with limits.deadline(operation.timeout):
        result: Result = operation.handler(caller, operation.parse(arguments))
    return result


def carry_out(operation: Operation, arguments: dict[str, Any], caller: Caller) -> Result:
    """One of many calls that a person makes at once: neither limited nor recorded one by one."""
    guards.authorize(operation, caller)
    request, redacted = guards.redact(operation, operation.parse(arguments))
    return with_redacted_count(operation.handler(caller, request), redacted)


@contextmanager
def at_once(operation: Operation, caller: Caller) -> Iterator[None]:
    """Around what is carried out for a person: for the records, all of it is one call."""
    record = Record(operation, caller)
    with notes.taken_in(record.notes):
        try:
            with record.judging():
                guards.authorize(operation, caller)
                yield
        finally:
            record.announce()


async def converse(
    operation: Operation, arguments: dict[str, Any], caller: Caller, conversation: Conversation
) -> Result:
    """`perform` for an operation that waits; while it waits, it holds no thread and no connection.

    Raises an `Interim` too, where the conversation has to go on elsewhere.
    """
    record = Record(operation, caller)
    with notes.taken_in(record.notes), telemetry.operation_span(operation, caller):
        try:
            with record.judging():
                record.result = await _run_concealed(operation, arguments, caller, conversation)
            return record.result
        finally:
            if not record.is_interim:
                # Also when the call is cancelled, which must not stop this; and not among the
                # workers, which when all are taken would refuse it, and fail a call that is done.
                telling = partial(copy_context().run, do_and_let_go, record.announce)
                loop = asyncio.get_running_loop()
                await asyncio.shield(loop.run_in_executor(_recorder, telling))


def run(operation: Operation, arguments: dict[str, Any], caller: Caller) -> Result:
    request, redacted = prepare(operation, arguments, caller)
    transaction = limits.transaction if operation.atomic else nullcontext
    with limits.deadline(operation.timeout), transaction():
        result: Result = operation.handler(caller, request)
    return with_redacted_count(result, redacted)


async def _run_concealed(
    operation: Operation, arguments: dict[str, Any], caller: Caller, conversation: Conversation
) -> Result:
    """Run it, and ask about the database, which may take a second, in a thread."""
    try:
        return await run_waiting(operation, arguments, caller, conversation)
    except OperationalError as error:
        raise await outages.conceal_in_thread(operation.name, error) from None


async def run_waiting(
    operation: Operation, arguments: dict[str, Any], caller: Caller, conversation: Conversation
) -> Result:
    seconds = conversation.allowance(operation.timeout)
    with limits.deadline(seconds):
        try:
            async with asyncio.timeout(seconds):
                request, redacted = await conversation.do(
                    partial(prepare, operation, arguments, caller)
                )
                result = await converse_with(operation, caller, request, conversation)
        except Detached as detached:
            detached.redacted = redacted
            raise
        except TimeoutError:
            raise TimedOut(f"no answer within {seconds:g} s") from None
    return with_redacted_count(result, redacted)


async def converse_with(
    operation: Operation, caller: Caller, request: Request, conversation: Conversation
) -> Result:
    try:
        result: Result = await operation.handler(caller, request, conversation)
    except Detached as detached:
        detached.arguments = request.model_dump(mode="json", exclude_unset=True)
        raise
    return result


def prepare(operation: Operation, arguments: dict[str, Any], caller: Caller) -> tuple[Request, int]:
    """What every call must pass; the request, and how many credentials were taken out of it."""
    guards.authorize(operation, caller)
    limits.throttle(operation, caller)
    return guards.redact(operation, operation.parse(arguments))


def with_redacted_count(result: Result, redacted: int) -> Result:
    return result.model_copy(update={"redacted": redacted}) if redacted else result


class Record:
    """How one call ended and how long it took, for the listeners of `operation_finished`."""

    def __init__(self, operation: Operation, caller: Caller) -> None:
        self._operation, self._caller = operation, caller
        self._started = time.perf_counter()
        self._category = Internal.category
        self.notes = notes.Notes()
        self.result: Result | None = None
        self.is_interim = False

    @contextmanager
    def judging(self) -> Iterator[None]:
        """Note how the block ends, and let nothing out that callers should not see."""
        try:
            yield
            self._category = "ok"
        except ContextdError as error:
            self._category = error.category
            raise
        except Interim:
            self.is_interim = True
            raise
        except Exception as error:
            concealed = outages.conceal(self._operation.name, error)
            self._category = concealed.category
            raise concealed from None

    def announce(self) -> None:
        operation_finished.send_robust(
            sender=Operation,
            operation=self._operation,
            caller=self._caller,
            category=self._category,
            seconds=time.perf_counter() - self._started,
            notes=self.notes,
            result=self.result,
        )

"""The only way to run an operation, through whichever door the request arrived."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
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

Prepare = Callable[[Operation, dict[str, Any], Caller], tuple[Request, int]]

_recorder = ThreadPoolExecutor(1, thread_name_prefix="recorder")


def call(
    name: str,
    arguments: dict[str, Any],
    caller: Caller,
    conversation: Conversation | None = None,
) -> Result:
    """Check, run and record one call of the operation with that name.

    Raise only ContextdError: a bug becomes `Internal`, whose message contains the reference of the
    logged exception.
    """
    return call_operation(operations.get(name), arguments, caller, conversation)


def call_operation(
    operation: Operation,
    arguments: dict[str, Any],
    caller: Caller,
    conversation: Conversation | None = None,
) -> Result:
    """Check, run and record one call, also of operations that are not tools (see `call`)."""
    if operation.waits:
        close_old_connections()  # this thread's connection would be idle while the operation waits
        return asyncio.run(call_async(operation, arguments, caller, conversation or Alone()))
    record = Record(operation, caller)
    with notes.kept_in(record.notes), telemetry.operation_span(operation, caller):
        try:
            with record.judging():
                record.result = run(operation, arguments, caller)
            return record.result
        finally:
            record.announce()


def preview(operation: Operation, arguments: dict[str, Any], caller: Caller) -> Result:
    """Return what a call by the caller would return, without rate limits and without a record."""
    guards.authorize(operation, caller)
    with limits.deadline(operation.timeout):
        result: Result = operation.handler(caller, operation.parse(arguments))
    return result


def call_unrecorded(operation: Operation, arguments: dict[str, Any], caller: Caller) -> Result:
    """Check and run one of many calls that are recorded together (see `recorded_as_one_call`)."""
    request, redacted = prepare_unthrottled(operation, arguments, caller)
    return with_redacted_count(operation.handler(caller, request), redacted)


@contextmanager
def recorded_as_one_call(operation: Operation, caller: Caller) -> Iterator[None]:
    """Record all `call_unrecorded` calls of the block as one call."""
    record = Record(operation, caller)
    with notes.kept_in(record.notes):
        try:
            with record.judging():
                guards.authorize(operation, caller)
                yield
        finally:
            record.announce()


async def call_async(
    operation: Operation, arguments: dict[str, Any], caller: Caller, conversation: Conversation
) -> Result:
    """Do what `call_operation` does; while the operation waits, hold no thread and no connection.

    Also raise `Interim` if the conversation has to continue elsewhere.
    """
    return await _run_recorded(prepare, operation, arguments, caller, conversation)


async def continue_async(
    operation: Operation, arguments: dict[str, Any], caller: Caller, conversation: Conversation
) -> Result:
    """Continue a call that `call_async` began, which counts only once against its rate."""
    return await _run_recorded(prepare_unthrottled, operation, arguments, caller, conversation)


async def _run_recorded(
    prepare: Prepare,
    operation: Operation,
    arguments: dict[str, Any],
    caller: Caller,
    conversation: Conversation,
) -> Result:
    record = Record(operation, caller)
    with notes.kept_in(record.notes), telemetry.operation_span(operation, caller):
        try:
            with record.judging():
                run = partial(_run_async, prepare, operation, arguments, caller, conversation)
                record.result = await _run_safely(operation, run)
            return record.result
        finally:
            if not record.is_interim:
                # Shielded, since a cancelled call is recorded too. In its own thread, since busy
                # workers would refuse the record and so fail a call that has succeeded.
                announce = partial(copy_context().run, do_and_let_go, record.announce)
                loop = asyncio.get_running_loop()
                await asyncio.shield(loop.run_in_executor(_recorder, announce))


def run(operation: Operation, arguments: dict[str, Any], caller: Caller) -> Result:
    request, redacted = prepare(operation, arguments, caller)
    transaction = limits.transaction if operation.atomic else nullcontext
    with limits.deadline(operation.timeout), transaction():
        result: Result = operation.handler(caller, request)
    return with_redacted_count(result, redacted)


async def _run_safely(operation: Operation, run: Callable[[], Awaitable[Result]]) -> Result:
    """Run the operation; look in a thread whether the database is down, which may take a second."""
    try:
        return await run()
    except OperationalError as error:
        raise await outages.as_public_error_in_thread(operation.name, error) from None


async def _run_async(
    prepare: Prepare,
    operation: Operation,
    arguments: dict[str, Any],
    caller: Caller,
    conversation: Conversation,
) -> Result:
    seconds = conversation.allowance(operation.timeout)
    with limits.deadline(seconds):
        try:
            async with asyncio.timeout(seconds):
                request, redacted = await conversation.do(
                    partial(prepare, operation, arguments, caller)
                )
                result = await _handle_async(operation, caller, request, conversation)
        except Detached as detached:
            detached.redacted = redacted
            raise
        except TimeoutError:
            raise TimedOut(f"no answer within {seconds:g} s") from None
    return with_redacted_count(result, redacted)


async def _handle_async(
    operation: Operation, caller: Caller, request: Request, conversation: Conversation
) -> Result:
    try:
        result: Result = await operation.handler(caller, request, conversation)
    except Detached as detached:
        detached.arguments = request.model_dump(mode="json", exclude_unset=True)
        raise
    return result


def prepare(operation: Operation, arguments: dict[str, Any], caller: Caller) -> tuple[Request, int]:
    """Authorize, throttle and parse; return the request and the number of redacted credentials."""
    guards.authorize(operation, caller)
    limits.throttle(operation, caller)
    return guards.redact(operation, operation.parse(arguments))


def prepare_unthrottled(
    operation: Operation, arguments: dict[str, Any], caller: Caller
) -> tuple[Request, int]:
    guards.authorize(operation, caller)
    return guards.redact(operation, operation.parse(arguments))


def with_redacted_count(result: Result, redacted: int) -> Result:
    return result.model_copy(update={"redacted": redacted}) if redacted else result


class Record:
    """The outcome and the duration of one call, for receivers of `operation_finished`."""

    def __init__(self, operation: Operation, caller: Caller) -> None:
        self._operation, self._caller = operation, caller
        self._started = time.perf_counter()
        self._category = Internal.category
        self._was_allowed = True
        self.notes = notes.Notes()
        self.result: Result | None = None
        self.is_interim = False

    @contextmanager
    def judging(self) -> Iterator[None]:
        """Record the outcome of the block; let only errors through that callers may see."""
        try:
            yield
            self._category = "ok"
        except ContextdError as error:
            self._category = error.category
            self._was_allowed = not error.is_refusal
            raise
        except Interim:
            self.is_interim = True
            raise
        except Exception as error:
            public = outages.as_public_error(self._operation.name, error)
            self._category = public.category
            raise public from None

    def announce(self) -> None:
        operation_finished.send_robust(
            sender=Operation,
            operation=self._operation,
            caller=self._caller,
            category=self._category,
            was_allowed=self._was_allowed,
            seconds=time.perf_counter() - self._started,
            notes=self.notes,
            result=self.result,
        )

"""Record every finished call."""

from typing import Any

from django.dispatch import receiver

from analytics import recording
from contextd.callers import Caller
from contextd.notes import Notes
from contextd.operations import Operation, Result
from contextd.signals import operation_finished


@receiver(operation_finished)
def note_call(
    operation: Operation,
    caller: Caller,
    category: str,
    seconds: float,
    notes: Notes,
    result: Result | None,
    **signal: Any,
) -> None:
    recording.note(operation, caller, category, seconds, notes, result)

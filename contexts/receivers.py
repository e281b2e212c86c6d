"""What follows when something was called, refused or changed."""

from typing import Any

from django.dispatch import receiver

from contextd.callers import Caller, Door, Principal
from contextd.operations import Operation
from contextd.signals import entry_refused, operation_finished
from contexts import audit


@receiver(operation_finished)
def record_call(
    operation: Operation, caller: Caller, category: str, seconds: float, **signal: Any
) -> None:
    audit.record_call(operation, caller, category, seconds)


@receiver(entry_refused)
def record_refusal(
    principal: Principal,
    context: str | None,
    door: Door,
    client: str,
    category: str,
    **signal: Any,
) -> None:
    audit.record_refusal(principal, context, door, client, category)

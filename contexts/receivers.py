"""What follows when something was called, refused or changed."""

from typing import Any, get_args

from django.contrib.auth import get_user_model
from django.db.models.signals import m2m_changed, post_delete, post_save
from django.dispatch import receiver

from contextd import changes
from contextd.bus import Kind
from contextd.callers import Caller, Door, Principal
from contextd.operations import Operation
from contextd.signals import entry_refused, operation_finished
from contexts import audit
from contexts.models import Context, Grant, Token


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


@receiver([post_save, post_delete], sender=Context)
@receiver([post_save, post_delete], sender=Grant)
@receiver([post_save, post_delete], sender=Token)
@receiver(m2m_changed, sender=get_user_model().groups.through)
def announce(**signal: Any) -> None:
    """Clients list anew what they may use: it may be another now."""
    for kind in get_args(Kind):
        changes.announce(kind)

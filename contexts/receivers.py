"""Reactions to calls, refusals and changes."""

from collections.abc import Collection
from typing import Any, get_args

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.db.models.signals import m2m_changed, post_delete, post_save
from django.dispatch import receiver
from django.http import HttpRequest

from contextd import changes, logins
from contextd.bus import ListName
from contextd.callers import DEFAULT_CONTEXT, Caller, Door, Principal
from contextd.operations import Operation
from contextd.signals import (
    entry_refused,
    operation_finished,
    serving_began,
    serving_ended,
)
from contexts import audit, services
from contexts.models import Context, Grant, Token


@receiver(operation_finished)
def record_call(
    operation: Operation,
    caller: Caller,
    category: str,
    was_allowed: bool,
    seconds: float,
    **signal: Any,
) -> None:
    audit.record_call(operation, caller, category, was_allowed, seconds)


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
@receiver(m2m_changed, sender=Context.projects.through)
@receiver(m2m_changed, sender=Token.contexts.through)
@receiver(m2m_changed, sender=get_user_model().groups.through)
def announce(**signal: Any) -> None:
    """Make clients list tools again; their permissions may have changed."""
    changes.announce_access()
    for kind in get_args(ListName):
        changes.announce(kind)


@receiver([post_save, post_delete], sender=get_user_model())
def announce_user(update_fields: Collection[str] | None = None, **signal: Any) -> None:
    """Announce changed access, since inactive users lose theirs; ignore mere logins."""
    if update_fields is None or set(update_fields) != {"last_login"}:
        changes.announce_access()


@receiver(user_logged_in)
def select_context(request: HttpRequest, user: User, **signal: Any) -> None:
    """Let the pages begin in a context that the user may enter."""
    names = services.names_for(user.pk)
    if names and DEFAULT_CONTEXT not in names:
        request.session[logins.CONTEXT] = names[0]


@receiver(serving_began)
def begin_to_collect(**signal: Any) -> None:
    audit.collect()


@receiver(serving_ended)
def write_what_was_collected(**signal: Any) -> None:
    audit.write_collected()

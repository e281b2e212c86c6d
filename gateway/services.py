"""Manage upstreams, and record what their supervisor reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import get_args

from django.core.exceptions import ValidationError
from django.db import DatabaseError, transaction
from django.utils import timezone

from contextd import changes
from contextd.bus import ListName
from contextd.encryption import Undecipherable
from contextd.errors import Invalid, NotFound
from contextd.status import Unhealthy, health_check
from contextd.validation import replace_unstorable
from gateway import place
from gateway.models import (
    Isolation,
    State,
    Transport,
    Upstream,
    UpstreamEvent,
    UpstreamSetting,
)

MAX_EVENTS = 200
MAX_SEARCHED_EVENTS = 10
MAX_REASON_CHARACTERS = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How an upstream is run; `revision` changes whenever that does."""

    pk: int
    namespace: str
    revision: datetime
    is_enabled: bool
    transport: Transport
    command: Sequence[str]
    working_directory: str
    url: str
    container: str
    image: str
    isolation: Isolation
    settings: Mapping[str, str]
    unreadable: str
    request_seconds: float
    discovery_seconds: float
    startup_seconds: float
    heartbeat_seconds: float
    stale_seconds: float
    poll_seconds: float
    restart_attempts: int
    backoff_seconds: float


@health_check("gateway")
def probe() -> list[str] | None:
    """Check that every enabled upstream answers."""
    try:
        upstreams = list(Upstream.objects.enabled())
    except DatabaseError:
        raise Unhealthy("upstreams cannot be read; run manage.py migrate") from None
    details = [summary(upstream) for upstream in upstreams]
    ill = [one for one in upstreams if one.state not in (State.READY, State.STARTING)]
    wrong = [f"{one.namespace} is {describe(one)}" for one in ill]
    if upstreams and (problem := place.problem()):
        wrong = [problem, *wrong]
    if wrong:
        raise Unhealthy("; ".join(wrong), details)
    return details or None


def summary(upstream: Upstream) -> str:
    """Return `github: ready since 2026-11-28 09:20 UTC; before, backoff: it has ended`."""
    line = f"{upstream}: {upstream.state} since {upstream.state_since:%Y-%m-%d %H:%M} UTC"
    before = next((one for one in upstream.events.all()[:MAX_SEARCHED_EVENTS] if one.reason), None)
    return f"{line}; before, {before.first_line}" if before else line


def describe(upstream: Upstream) -> str:
    """Return `backoff: it ended with exit code 1; next try at 12:00:05`."""
    first_line = upstream.reason.partition("\n")[0]
    retry = upstream.next_retry_at
    parts = [f"{upstream.state}: {first_line}" if first_line else upstream.state]
    return "; ".join([*parts, f"next try at {retry:%H:%M:%S}"] if retry else parts)


def plans() -> list[Plan]:
    """Return the plans of all upstreams, including those that are disabled."""
    return [plan_of(upstream) for upstream in Upstream.objects.prefetch_related("settings")]


def plan_of(upstream: Upstream) -> Plan:
    values, unreadable = readable_settings(upstream)
    return Plan(
        pk=upstream.pk,
        namespace=upstream.namespace,
        revision=upstream.updated_at,
        is_enabled=upstream.is_enabled,
        transport=Transport(upstream.transport),
        command=upstream.command,
        working_directory=upstream.working_directory,
        url=upstream.url,
        container=upstream.container,
        image=upstream.image,
        isolation=upstream.effective_isolation,
        settings=values,
        unreadable=unreadable,
        request_seconds=upstream.request_timeout_ms / 1000,
        discovery_seconds=upstream.discovery_timeout_ms / 1000,
        startup_seconds=upstream.startup_timeout_ms / 1000,
        heartbeat_seconds=upstream.heartbeat_interval_ms / 1000,
        poll_seconds=upstream.poll_interval_ms / 1000,
        stale_seconds=upstream.stale_timeout_ms / 1000,
        restart_attempts=upstream.restart_attempts,
        backoff_seconds=upstream.restart_backoff_ms / 1000,
    )


def readable_settings(upstream: Upstream) -> tuple[dict[str, str], str]:
    """Return the values by name, and the problem if one cannot be decrypted."""
    values = {}
    for setting in upstream.settings.all():
        try:
            values[setting.name] = setting.value
        except Undecipherable:
            problem = f"{setting.name} was saved under another CONTEXTD_SECRET_KEY; enter it again"
            return {}, problem
    return values, ""


def save_state(
    upstream_id: int, state: State, reason: str = "", retry_at: datetime | None = None
) -> None:
    """Save the upstream's state and add it to the events."""
    reason = replace_unstorable(reason)[:MAX_REASON_CHARACTERS]
    with transaction.atomic():
        known = Upstream.objects.filter(pk=upstream_id).update(
            state=state, reason=reason, next_retry_at=retry_at, state_since=timezone.now()
        )
        if known:
            add_event(upstream_id, state, reason)


def add_event(upstream_id: int, state: State, reason: str) -> None:
    UpstreamEvent.objects.create(
        upstream_id=upstream_id,
        state=state,
        reason=replace_unstorable(reason)[:MAX_REASON_CHARACTERS],
    )
    events = UpstreamEvent.objects.filter(upstream=upstream_id)
    kept = events.values("pk")[:MAX_EVENTS]
    events.exclude(pk__in=kept).delete()


def add(upstream: Upstream, settings: Mapping[str, str]) -> None:
    """Save a new upstream. Raises Invalid."""
    try:
        with transaction.atomic():
            upstream.full_clean()
            upstream.save()
            for name, value in settings.items():
                setting = UpstreamSetting(upstream=upstream, name=name)
                setting.value = value.strip()
                setting.full_clean()
                setting.save()
    except ValidationError as error:
        raise Invalid("; ".join(messages_of(error))) from None


def messages_of(error: ValidationError) -> list[str]:
    fields = getattr(error, "error_dict", {})
    return [
        f"{field}: {message}" if field != "__all__" else message
        for field, problems in fields.items()
        for problem in problems
        for message in problem.messages
    ]


def get_upstream(namespace: str) -> Upstream:
    found = Upstream.objects.filter(namespace=namespace).first()
    if found is None:
        known = ", ".join(Upstream.objects.values_list("namespace", flat=True)) or "none"
        raise NotFound(f"there is no upstream {namespace!r}; there are: {known}")
    return found


def remove(upstream: Upstream) -> None:
    with transaction.atomic():
        upstream.delete()
        announce_all()


def announce_all() -> None:
    """Announce that any list may have changed."""
    for kind in get_args(ListName):
        changes.announce(kind)


def touch(upstream: Upstream) -> None:
    """Have the supervisor restart it, as after a change."""
    upstream.save(update_fields=["updated_at"])

"""What can be done with upstreams, and what their supervisor notes about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from contextd import changes
from contextd.callers import matches
from contextd.encryption import Undecipherable
from contextd.errors import Invalid, NotFound
from contextd.status import Unhealthy, health_check
from gateway import discovery, names, pinning
from gateway.discovery import Listed
from gateway.models import (
    Isolation,
    State,
    Transport,
    Upstream,
    UpstreamEvent,
    UpstreamSetting,
    UpstreamTool,
)

EVENTS_KEPT = 200
# Asked by each call, and so in SQL.
EDITION = """
    SELECT md5(concat(
        (SELECT string_agg(id || '@' || updated_at, ',' ORDER BY id) FROM gateway_upstream),
        '|',
        (SELECT string_agg(id || '@' || updated_at, ',' ORDER BY id) FROM gateway_upstreamtool)
    ))
"""
LONGEST_REASON = 4000


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool that clients see, and what a call of it needs."""

    namespace: str
    tool: str
    wire_name: str
    definition: Mapping[str, Any]
    gives_plain_json: bool
    redacts_arguments: bool
    seconds: float

    @property
    def canonical(self) -> str:
        return names.canonical(self.namespace, self.tool)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How an upstream is run; `revision` is another one whenever that changes."""

    pk: int
    namespace: str
    revision: datetime
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
    restart_attempts: int
    backoff_seconds: float


@health_check("gateway")
def probe() -> None:
    """Every upstream that is switched on answers."""
    try:
        ill = list(Upstream.objects.enabled().exclude(state__in=[State.READY, State.STARTING]))
    except DatabaseError:
        raise Unhealthy("upstreams cannot be read; run manage.py migrate") from None
    if ill:
        raise Unhealthy("; ".join(f"{one.namespace} is {described(one)}" for one in ill))


def described(upstream: Upstream) -> str:
    """`backoff: it ended with exit code 1; next try at 12:00:05`."""
    first_line = upstream.reason.partition("\n")[0]
    retry = upstream.next_retry_at
    told = [f"{upstream.state}: {first_line}" if first_line else upstream.state]
    return "; ".join([*told, f"next try at {retry:%H:%M:%S}"] if retry else told)


def edition() -> str:
    """Another one whenever something about upstreams or their tools has changed."""
    with connection.cursor() as cursor:
        cursor.execute(EDITION)
        (found,) = cursor.fetchone()
    return str(found)


def offered() -> list[Offer]:
    """What clients may see now."""
    return [as_offer(tool) for tool in UpstreamTool.objects.offered()]


def as_offer(tool: UpstreamTool) -> Offer:
    upstream = tool.upstream
    return Offer(
        namespace=upstream.namespace,
        tool=tool.name,
        wire_name=tool.wire_name,
        definition={**tool.definition, "name": tool.name},
        gives_plain_json=upstream.gives_plain_json,
        redacts_arguments=upstream.redacts_arguments,
        # Its process may have to be started for the call.
        seconds=(upstream.request_timeout_ms + upstream.startup_timeout_ms) / 1000,
    )


def plans() -> list[Plan]:
    """Of the upstreams that are to run."""
    return [
        plan_of(upstream) for upstream in Upstream.objects.enabled().prefetch_related("settings")
    ]


def plan_of(upstream: Upstream) -> Plan:
    values, unreadable = readable_settings(upstream)
    return Plan(
        pk=upstream.pk,
        namespace=upstream.namespace,
        revision=upstream.updated_at,
        transport=Transport(upstream.transport),
        command=upstream.command,
        working_directory=upstream.working_directory,
        url=upstream.url,
        container=upstream.container,
        image=upstream.image,
        isolation=upstream.kept_apart,
        settings=values,
        unreadable=unreadable,
        request_seconds=upstream.request_timeout_ms / 1000,
        discovery_seconds=upstream.discovery_timeout_ms / 1000,
        startup_seconds=upstream.startup_timeout_ms / 1000,
        heartbeat_seconds=upstream.heartbeat_interval_ms / 1000,
        stale_seconds=upstream.stale_timeout_ms / 1000,
        restart_attempts=upstream.restart_attempts,
        backoff_seconds=upstream.restart_backoff_ms / 1000,
    )


def readable_settings(upstream: Upstream) -> tuple[dict[str, str], str]:
    """The values by name; and what is wrong, since a missing one must not pass unnoticed."""
    values = {}
    for setting in upstream.settings.all():
        try:
            values[setting.name] = setting.value
        except Undecipherable:
            told = f"{setting.name} was saved under another CONTEXTD_SECRET_KEY; enter it anew"
            return {}, told
    return values, ""


def note(
    upstream_id: int, state: State, reason: str = "", retry_at: datetime | None = None
) -> None:
    """Keep what state it is in, and that this happened."""
    reason = storable(reason)[:LONGEST_REASON]
    with transaction.atomic():
        known = Upstream.objects.filter(pk=upstream_id).update(
            state=state, reason=reason, next_retry_at=retry_at, state_since=timezone.now()
        )
        if known:
            keep_event(upstream_id, state, reason)


def keep_event(upstream_id: int, state: State, reason: str) -> None:
    UpstreamEvent.objects.create(
        upstream_id=upstream_id, state=state, reason=storable(reason)[:LONGEST_REASON]
    )
    events = UpstreamEvent.objects.filter(upstream=upstream_id)
    kept = events.values("pk")[:EVENTS_KEPT]
    events.exclude(pk__in=kept).delete()


def storable(text: str) -> str:
    return text.replace("\x00", "�").encode("utf-8", "replace").decode()


def take_in(upstream_id: int, raw: Sequence[Any]) -> list[str]:
    """Keep what an upstream lists; what is wrong with it or has to be looked at.

    Raises Invalid when it lists nothing where it had something: that is a fault of its own.
    """
    listed = discovery.check(raw)
    with transaction.atomic():
        upstream = Upstream.objects.select_for_update().filter(pk=upstream_id).first()
        if upstream is None:
            return []
        known = {tool.name: tool for tool in upstream.tools.select_for_update()}
        had = sum(tool.is_present for tool in known.values())
        if had and not listed.tools:
            raise Invalid(f"it lists no tools, where it had {had} before", problems=listed.problems)
        quarantined = keep_tools(upstream, listed, known)
    return [*listed.problems, *quarantined]


def keep_tools(upstream: Upstream, listed: Listed, known: Mapping[str, UpstreamTool]) -> list[str]:
    changed = []
    taken = {tool.wire_name for tool in known.values()}
    for name, definition in listed.tools.items():
        tool = known.get(name) or first_seen(upstream, name, definition)
        if not tool.pk and tool.wire_name in taken:
            listed.problems.append(f"{tool} is left out: another one is {tool.wire_name} already")
            continue
        taken.add(tool.wire_name)
        if tool.pk and tool.is_present and tool.definition == definition:
            continue
        tool.definition, tool.is_present = definition, True
        tool.suspicions = pinning.suspicions(definition)
        tool.is_allowed = is_allowed(upstream, name)
        changed.append(tool)
    gone = [tool for name, tool in known.items() if name not in listed.tools and tool.is_present]
    for tool in gone:
        tool.is_present = False
    for tool in [*changed, *gone]:
        tool.save()
    if changed or gone:
        changes.announce("tools")
    return [f"{tool} is held back: {why_held(tool)}" for tool in changed if tool.is_quarantined]


def first_seen(upstream: Upstream, name: str, definition: dict[str, Any]) -> UpstreamTool:
    """Approved unseen, unless there is something suspicious about it."""
    tool = UpstreamTool(
        upstream=upstream, name=name, wire_name=names.on_the_wire(upstream.namespace, name)
    )
    if not pinning.suspicions(definition):
        tool.approved, tool.digest = definition, pinning.digest(definition)
    return tool


def why_held(tool: UpstreamTool) -> str:
    return "; ".join(tool.suspicions) or "it is another one than was approved"


def is_allowed(upstream: Upstream, tool: str) -> bool:
    if matches(tool, upstream.denied_tools):
        return False
    return not upstream.allowed_tools or matches(tool, upstream.allowed_tools)


def apply_filter(upstream: Upstream) -> None:
    """After its globs have changed."""
    for tool in upstream.tools.all():
        tool.is_allowed = is_allowed(upstream, tool.name)
        tool.save()
    changes.announce("tools")


def standing(tool: UpstreamTool) -> str:
    """Whether clients see it, and why not."""
    if not tool.is_present:
        return "gone: the upstream does not list it any more"
    if not tool.is_allowed:
        return "left out by the filter of its upstream"
    return f"held back: {why_held(tool)}" if tool.is_quarantined else "offered"


def approve_named(namespace: str, name: str) -> UpstreamTool:
    tool = named(namespace).tools.select_related("upstream").filter(name=name).first()
    if tool is None:
        raise NotFound(f"{namespace} has no tool {name!r}; see manage.py gateway show {namespace}")
    approve(tool)
    return tool


def approve(tool: UpstreamTool) -> None:
    """Let clients see the tool as it is now."""
    tool.approved, tool.digest = tool.definition, pinning.digest(tool.definition)
    tool.save()
    changes.announce("tools")


def add(upstream: Upstream, settings: Mapping[str, str]) -> None:
    """Raises Invalid for what no upstream can be."""
    try:
        upstream.full_clean()
    except ValidationError as error:
        raise Invalid("; ".join(worded(error))) from None
    with transaction.atomic():
        upstream.save()
        for name, value in settings.items():
            setting = UpstreamSetting(upstream=upstream, name=name)
            setting.value = value
            setting.full_clean()
            setting.save()


def worded(error: ValidationError) -> list[str]:
    fields = getattr(error, "error_dict", {})
    return [
        f"{field}: {message}" if field != "__all__" else message
        for field, problems in fields.items()
        for problem in problems
        for message in problem.messages
    ]


def named(namespace: str) -> Upstream:
    found = Upstream.objects.filter(namespace=namespace).first()
    if found is None:
        known = ", ".join(Upstream.objects.values_list("namespace", flat=True)) or "none"
        raise NotFound(f"there is no upstream {namespace!r}; there are: {known}")
    return found


def remove(upstream: Upstream) -> None:
    with transaction.atomic():
        upstream.delete()
        changes.announce("tools")


def touch(upstream: Upstream) -> None:
    """Have its supervisor start it anew, as after a change."""
    upstream.save(update_fields=["updated_at"])

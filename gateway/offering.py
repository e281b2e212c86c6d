"""Decide which upstream features clients see and which are held back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from contextd import changes
from contextd.bus import ListName
from contextd.callers import matches
from contextd.errors import Invalid, NotFound
from gateway import discovery, names, pinning, services
from gateway.discovery import Listed
from gateway.models import Kind, State, Upstream, UpstreamFeature

# Every call runs this, hence SQL.
EDITION = """
    SELECT md5(concat(
        (SELECT string_agg(id || '@' || updated_at, ',' ORDER BY id) FROM gateway_upstream),
        '|',
        (SELECT string_agg(id || '@' || updated_at, ',' ORDER BY id) FROM gateway_upstreamfeature
         WHERE kind IN ('tool', 'prompt'))
    ))
"""
END_SECONDS = 30
MAX_SHOWN_NAME_CHARACTERS = 80
SHOWN_DIGITS = 12
"""Hex digits of a digest shown to people: enough to distinguish definitions."""

ANNOUNCED_LISTS: Mapping[Kind, ListName] = {
    Kind.TOOL: "tools",
    Kind.PROMPT: "prompts",
    Kind.RESOURCE: "resources",
    Kind.TEMPLATE: "resources",
}
_BY_ADDRESS = (Kind.RESOURCE, Kind.TEMPLATE)


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool or prompt that clients see, with what a call needs."""

    namespace: str
    name: str
    wire_name: str
    definition: Mapping[str, Any]
    gives_plain_json: bool
    redacts_arguments: bool
    headers: Mapping[str, str]
    """Map each upstream header to the caller's header that supplies its value."""
    seconds: float

    @property
    def canonical(self) -> str:
        return names.canonical(self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class OfferedResource:
    """A resource, or a resource template, that clients see."""

    address: str
    definition: Mapping[str, Any]


def edition() -> str:
    """Return a digest that changes whenever an upstream, tool or prompt does."""
    with connection.cursor() as cursor:
        cursor.execute(EDITION)
        (found,) = cursor.fetchone()
    return str(found)


def offered(kind: Kind = Kind.TOOL) -> list[Offer]:
    """Return what clients may see now."""
    return [as_offer(feature) for feature in UpstreamFeature.objects.offered(kind)]


def offered_prompts() -> list[Offer]:
    return offered(Kind.PROMPT)


def as_offer(feature: UpstreamFeature) -> Offer:
    upstream = feature.upstream
    return Offer(
        namespace=upstream.namespace,
        name=feature.name,
        wire_name=feature.wire_name,
        definition={**feature.definition, "name": feature.name},
        gives_plain_json=upstream.gives_plain_json,
        redacts_arguments=upstream.redacts_arguments,
        headers=dict(pair.split("=", 1) for pair in upstream.caller_headers),
        seconds=seconds_of(upstream),
    )


def seconds_of(upstream: Upstream) -> float:
    """Return the time limit of a call, including a start of the upstream."""
    return (upstream.request_timeout_ms + upstream.startup_timeout_ms) / 1000


def seconds_of_start(upstream: Upstream) -> float:
    """Return the time limit of a restart: stop, start and listing everything."""
    listing_ms = len(Kind) * upstream.discovery_timeout_ms
    return END_SECONDS + (upstream.startup_timeout_ms + listing_ms) / 1000


def offered_resources(*, offset: int, limit: int) -> list[OfferedResource]:
    found = UpstreamFeature.objects.offered(Kind.RESOURCE)[offset : offset + limit]
    return [OfferedResource(one.wire_name, one.definition) for one in found]


def offered_templates() -> list[OfferedResource]:
    found = UpstreamFeature.objects.offered(Kind.TEMPLATE)
    return [OfferedResource(one.wire_name, one.definition) for one in found]


def readable(address: str) -> Offer:
    """Return the offer to read an address with; it may be unlisted, but not held back.

    Raises NotFound.
    """
    namespace, uri = names.parts_of_address(address)
    upstream = Upstream.objects.enabled().filter(namespace=namespace).first()
    known = UpstreamFeature.objects.filter(upstream=upstream, kind=Kind.RESOURCE, name=uri).first()
    if upstream is None or not uri or (known and known.is_quarantined):
        raise NotFound(f"there is no resource at {address[: names.MAX_SHOWN_CHARACTERS]!r}")
    return as_offer(UpstreamFeature(upstream=upstream, kind=Kind.RESOURCE, name=uri, definition={}))


def is_listed(address: str) -> bool:
    """Return whether clients see a resource with exactly this address."""
    return UpstreamFeature.objects.offered(Kind.RESOURCE).filter(wire_name=address).exists()


def listed(kind: Kind) -> list[dict[str, Any]]:
    """Return the definitions that clients see, under their canonical names or addresses."""
    key = discovery.key_of(kind)
    found = UpstreamFeature.objects.offered(kind)
    return [{"name": one.name, **one.definition, key: str(one)} for one in found]


def check_offered(kind: Kind, namespace: str, name: str) -> None:
    """Raise NotFound for what clients do not see; a resource may be unlisted."""
    if kind == Kind.RESOURCE:
        readable(names.address(namespace, name))
        return
    known = UpstreamFeature.objects.offered(kind).filter(upstream__namespace=namespace, name=name)
    if not known.exists():
        shown = names.canonical(namespace, name)[: names.MAX_SHOWN_CHARACTERS]
        raise NotFound(f"there is no {kind} {shown!r}")


def save_listing(upstream_id: int, kind: Kind, raw: Sequence[Any]) -> list[str]:
    """Save what an upstream lists; return problems and what needs a review.

    Raises Invalid when it listed tools before and lists none now, which is its own fault.
    """
    before = UpstreamFeature.objects.filter(upstream=upstream_id, kind=kind, is_present=True)
    listed = discovery.check(kind, raw, set(before.values_list("name", flat=True)))
    with transaction.atomic():
        upstream = Upstream.objects.select_for_update().filter(pk=upstream_id).first()
        if upstream is None:
            return []
        features = upstream.features.filter(kind=kind).select_for_update()
        known = {feature.name: feature for feature in features}
        had = sum(feature.is_present for feature in known.values())
        if kind == Kind.TOOL and had and not listed.definitions:
            raise Invalid(f"it lists no tools, but had {had} before", problems=listed.problems)
        note_left_out(upstream, kind, listed.beyond_limits)
        quarantined = store_features(upstream, kind, listed, known)
    return [*listed.problems, *quarantined]


def note_left_out(upstream: Upstream, kind: Kind, names_left_out: Sequence[str]) -> None:
    """Add it to the events, once for the same ones."""
    if not names_left_out:
        return
    shown = ", ".join(name[:MAX_SHOWN_NAME_CHARACTERS] for name in sorted(names_left_out)[:10])
    told = (
        f"{len(names_left_out)} of its {kind}s are left out, since the definitions are more or "
        f"larger than the gateway takes: {shown}"
    )
    if not upstream.events.filter(reason=told).exists():
        services.add_event(upstream.pk, State(upstream.state), told)


def store_features(
    upstream: Upstream, kind: Kind, listed: Listed, known: Mapping[str, UpstreamFeature]
) -> list[str]:
    changed = []
    wire_names = {feature.wire_name for feature in known.values()}
    for name, definition in listed.definitions.items():
        feature = known.get(name) or new_feature(upstream, kind, name)
        if not feature.pk and feature.wire_name in wire_names:
            listed.problems.append(f"{feature} is left out: {feature.wire_name} is already taken")
            continue
        wire_names.add(feature.wire_name)
        if not (feature.pk and feature.is_present and feature.definition == definition):
            set_definition(feature, definition)
            changed.append(feature)
    gone = [one for one in known.values() if one.name not in listed.definitions and one.is_present]
    for feature in gone:
        feature.is_present = False
    for feature in [*changed, *gone]:
        feature.save()
    if changed or gone:
        changes.announce(ANNOUNCED_LISTS[kind])
    return [f"{one} is held back: {why_held(one)}" for one in changed if one.is_quarantined]


def new_feature(upstream: Upstream, kind: Kind, name: str) -> UpstreamFeature:
    wire_name_of = names.address if kind in _BY_ADDRESS else names.on_the_wire
    return UpstreamFeature(
        upstream=upstream, kind=kind, name=name, wire_name=wire_name_of(upstream.namespace, name)
    )


def set_definition(feature: UpstreamFeature, definition: dict[str, Any]) -> None:
    """Store the upstream's current definition; approve it if no review is needed."""
    is_new = not feature.pk
    feature.definition, feature.is_present = definition, True
    feature.suspicions = pinning.suspicions(definition)
    feature.is_allowed = is_allowed(feature)
    # Resources are data, not approved instructions, and their descriptions change often.
    if not feature.suspicions and (is_new or feature.kind in _BY_ADDRESS):
        mark_approved(feature)


def mark_approved(feature: UpstreamFeature) -> None:
    feature.approved, feature.digest = feature.definition, pinning.digest(feature.definition)


def why_held(feature: UpstreamFeature) -> str:
    return "; ".join(feature.suspicions) or "it differs from the approved definition"


def is_allowed(feature: UpstreamFeature) -> bool:
    """Return whether the upstream's globs let the feature pass; they apply to tools only."""
    upstream = feature.upstream
    if feature.kind != Kind.TOOL:
        return True
    if matches(feature.name, upstream.denied_tools):
        return False
    return not upstream.allowed_tools or matches(feature.name, upstream.allowed_tools)


def apply_filter(upstream: Upstream) -> None:
    """Apply the upstream's changed globs to its tools."""
    for tool in upstream.features.filter(kind=Kind.TOOL):
        if tool.is_allowed != is_allowed(tool):
            tool.is_allowed = not tool.is_allowed
            # The other columns may have changed since they were read, as by an approval.
            tool.save(update_fields=["is_allowed", "updated_at"])


def status_text(feature: UpstreamFeature) -> str:
    """Describe whether clients see it, and why not."""
    if not feature.is_present:
        return "gone: the upstream no longer lists it, or the list is too large (see its events)"
    if not feature.is_allowed:
        return "left out by the filter of its upstream"
    return f"held back: {why_held(feature)}" if feature.is_quarantined else "offered"


def shown_digest(feature: UpstreamFeature) -> str:
    """Return the digest that identifies the definition a person was shown."""
    return pinning.digest(feature.definition)[:SHOWN_DIGITS]


def approve_named(namespace: str, name: str, shown: str) -> list[UpstreamFeature]:
    """Approve the features of this name that were shown; a tool and a prompt may share it."""
    found = services.get_upstream(namespace).features.select_related("upstream").filter(name=name)
    if not found:
        raise NotFound(
            f"{namespace} offers nothing named {name!r}; see manage.py gateway show {namespace}"
        )
    meant = [one for one in found if shown_digest(one) == shown] or list(found)
    return approve((one, shown) for one in meant)


def approve(shown: Iterable[tuple[UpstreamFeature, str]]) -> list[UpstreamFeature]:
    """Approve each feature as shown. Raises Invalid if one has changed since."""
    with transaction.atomic():
        return [approve_one(feature.pk, digest) for feature, digest in shown]


def approve_one(pk: int, shown: str) -> UpstreamFeature:
    features = UpstreamFeature.objects.select_related("upstream").select_for_update(of=["self"])
    feature = features.get(pk=pk)
    if shown_digest(feature) != shown:
        raise Invalid(
            f"{feature} has changed since it was shown ({shown[:SHOWN_DIGITS]}); review it again",
            digest=shown_digest(feature),
        )
    mark_approved(feature)
    feature.save()
    changes.announce(ANNOUNCED_LISTS[Kind(feature.kind)])
    return feature

"""Services of threats: find, list, curate."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from django.db import transaction
from django.db.models import Count, QuerySet
from pydantic import ValidationError

from contextd import changes, notes, redaction, search, shipped
from contextd.callers import Caller
from contextd.errors import Invalid, NotFound
from contextd.search import Hit
from contextd.shipped import Library
from contextd.status import has_records, health_check
from threats import briefing, knowledge, weaknesses
from threats.briefing import Briefing
from threats.models import ANY, Threat, ThreatQuerySet, fields_of
from threats.schema import LANGUAGE_OF, ThreatPattern

DOMAIN = "threat"
FAMILIES = {"drf": ["drf", "django"]}
"""Frameworks whose threats also apply to those built on them."""
SHOWN_FIELDS = [
    *("name", "key", "severity", "likelihood", "languages", "content", "origin", "updated_at"),
]
"""Fields that people who search see."""
MAX_FOUND = 5
CLEAR_SCORE = 0.25
"""Score from which the best threat is relevant; below, it may merely share a word."""
MIN_SHARE_OF_UNCLEAR = 0.85


@dataclass(frozen=True, slots=True)
class Match:
    threat: Threat
    pattern: ThreatPattern
    score: float


@dataclass(frozen=True, slots=True)
class Matches:
    matches: list[Match]
    notice: str | None

    @property
    def patterns(self) -> list[ThreatPattern]:
        return [match.pattern for match in self.matches]


def register() -> None:
    search.register_records(DOMAIN, "Threats", Threat, found_by="threat_list", fields=SHOWN_FIELDS)
    shipped.register(LIBRARY)


@health_check("threats")
def probe() -> None:
    """Check that the table can be read."""
    has_records(Threat.objects.all(), "threats")


def text_of(threat: Threat) -> tuple[str, str]:
    """Return the headline and body to index: the name, and developers' words for the work.

    The description is excluded, since it is about attacks, not about work to be done.
    """
    triggers = threat.read().triggers
    return threat.name, ", ".join([*triggers.keywords, *triggers.actions])


def announce(keys: Iterable[str]) -> None:
    """Notify clients that these threats, and so the list, have changed."""
    changes.announce("resources")
    for key in keys:
        changes.announce("resources", address_of(key))


def address_of(key: str) -> str:
    return f"{DOMAIN}://{key}"


LIBRARY = Library(
    name="threats",
    domain=DOMAIN,
    folder=Path(__file__).parent,
    model=Threat,
    read=knowledge.shipped,
    text_of=text_of,
    announce=announce,
)


def find(
    caller: Caller,
    context: str,
    *,
    language: str | None = None,
    framework: str | None = None,
    limit: int = MAX_FOUND,
) -> Matches:
    """Return the threats to the described work, most relevant first."""
    fitting = Threat.objects.visible_to(caller).fitting(
        language_of(language, framework), family_of(framework)
    )
    found = search.find(
        context,
        domain=DOMAIN,
        projects=caller.projects,
        records=fitting,
        limit=limit,
    )
    good = _relevant(found.hits)
    matches = [
        Match(threat, pattern_of(threat), hit.score)
        for hit, threat in search.with_records(good, fitting.without_content())
    ]
    notes.answered(DOMAIN, [match.threat.pk for match in matches])
    return Matches(matches, found.notice)


def pattern_of(threat: Threat) -> ThreatPattern:
    """Return the threat's pattern, cached until the threat changes."""
    return _pattern(threat.pk, threat.updated_at)


@lru_cache(maxsize=1000)
def _pattern(pk: int, updated_at: datetime) -> ThreatPattern:
    return Threat.objects.get(pk=pk).read()


def _relevant(hits: Sequence[Hit]) -> list[Hit]:
    best = hits[0].score if hits else 0.0
    if best >= CLEAR_SCORE:
        return search.relevant(hits, best)
    return search.relevant(hits, best, MIN_SHARE_OF_UNCLEAR)


def brief(matches: Matches, language: str | None, framework: str | None) -> Briefing:
    return briefing.brief(
        matches.patterns,
        language=language_of(language, framework),
        frameworks=family_of(framework),
        notice=matches.notice,
    )


def language_of(language: str | None, framework: str | None) -> str | None:
    """Return the given language, else that of the framework."""
    return language or LANGUAGE_OF.get(framework or ANY)


def family_of(framework: str | None) -> list[str]:
    """Return the framework and those it builds on; an empty list for any."""
    if framework in (None, ANY):
        return []
    return FAMILIES.get(framework, [framework])


def worst(caller: Caller) -> ThreatQuerySet:
    """Return all threats, most severe first."""
    return Threat.objects.visible_to(caller).without_content().worst_first()


@dataclass(frozen=True, slots=True)
class Page:
    threats: list[Threat]
    total: int
    categories: dict[str, int]


def listed(
    caller: Caller,
    *,
    category: str | None,
    severity: str | None,
    cwe: str | None,
    owasp: str | None,
    language: str | None,
    framework: str | None,
    limit: int,
    offset: int,
) -> Page:
    """Return threats that match all filters, most severe first, and all categories."""
    visible = Threat.objects.visible_to(caller)
    given = {
        "category": category,
        "severity": severity,
        "cwes__contains": [cwe.upper()] if cwe else None,
        "owasps__contains": [owasp.upper()] if owasp else None,
    }
    meeting = visible.showing(language, family_of(framework)).filter(
        **{name: value for name, value in given.items() if value is not None}
    )
    categories = visible.order_by("category").values_list("category").annotate(Count("pk"))
    rows = meeting.as_rows().worst_first()
    return Page(list(rows[offset : offset + limit]), meeting.count(), dict(categories))


@dataclass(frozen=True, slots=True)
class Covered:
    """An entry of a public list with the threats that refer to it."""

    id: str
    name: str
    threats: list[Threat]


def coverage(which: weaknesses.List) -> list[Covered]:
    """Return all entries of CWE or OWASP in order, even without threats."""
    by_entry: dict[str, list[Threat]] = {entry: [] for entry in weaknesses.known(which)}
    for threat in Threat.objects.published():
        for entry in threat.cwes if which == "cwe" else threat.owasps:
            by_entry.setdefault(entry, []).append(threat)
    names = weaknesses.known(which)
    return [Covered(entry, names.get(entry, ""), of) for entry, of in by_entry.items()]


def write(threat: Threat, pattern: ThreatPattern) -> int:
    """Save and index a person's text; return the number of credentials removed."""
    pattern, redacted = without_credentials(pattern)
    values = fields_of(pattern)
    for name, value in values.items():
        setattr(threat, name, value)
    threat.key = pattern.id
    with transaction.atomic():
        threat.save(update_fields=[*values, "is_published", "updated_at"] if threat.pk else None)
        if threat.is_retired:
            _keep([threat])
        shipped.index(LIBRARY, [threat])
    announce([threat.key])
    return redacted


def _keep(threats: Iterable[Threat]) -> None:
    """Turn threats that no longer ship into people's own."""
    for threat in threats:
        shipped.keep(threat)
        threat.save(update_fields=shipped.KEPT_FIELDS)


def without_credentials(pattern: ThreatPattern) -> tuple[ThreatPattern, int]:
    """Return the pattern and the number of credentials removed. Raises Invalid if one cannot be."""
    redacted = redaction.redact_value(pattern.model_dump(mode="json"))
    if not redacted.findings:
        return pattern, 0
    try:
        return ThreatPattern.model_validate(redacted.value), len(redacted.findings)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(map(str, problem["loc"]))
        sentence = f"{place} contains a credential, which is not allowed there: {problem['msg']}"
        raise Invalid(sentence, field="content") from None


def refuse_reserved(threat_id: str) -> None:
    """Raises Invalid if later versions of contextd may ship another threat with that id."""
    group = threat_id.rpartition("-")[0]
    if any(key.startswith(f"{group}-") for key in knowledge.named_in(knowledge.FOLDER)):
        raise Invalid(
            f"ids that begin with {group} are kept for threats that ship; use letters of your "
            "own, such as TMKB-ACME-001",
            field="id",
        )


def known_ids() -> set[str]:
    """Return the ids that other threats may relate to."""
    return knowledge.named_in(knowledge.FOLDER) | set(Threat.objects.values_list("key", flat=True))


def publish(threats: QuerySet[Threat], *, is_published: bool) -> int:
    """Publish threats, even retired ones, or turn them into drafts; return the number."""
    keys = list(threats.values_list("key", flat=True))
    with transaction.atomic():
        retired = list(threats.filter(is_retired=True)) if is_published else []
        _keep(retired)
        shipped.index(LIBRARY, retired)
        threats.update(is_published=is_published)
    announce(keys)
    return len(keys)


def get(caller: Caller, key: str) -> ThreatPattern:
    visible = Threat.objects.visible_to(caller).without_content()
    threat = visible.filter(key=key.strip().upper()).first()
    if threat is None:
        raise NotFound(f"there is no threat {key!r}; threat_list shows all", id=key)
    notes.used(DOMAIN, threat.pk, None)
    return pattern_of(threat)

"""Finds the patterns that an error may be a case of."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from contextd import search
from contextd.search import Hit
from troubleshoot import library, signatures, vocabulary, weighing
from troubleshoot.models import Pattern
from troubleshoot.symptoms import Symptom
from troubleshoot.vocabulary import Vocabulary
from troubleshoot.weighing import Evidence

LOOKED_AT = 12
"""By words and meaning, beside all with a signature; 25 diagnose the labelled errors no better."""

NO_PATTERNS = (
    "The knowledge base is empty: its patterns are still being loaded, or `manage.py load_shipped` "
    "has not run. Ask again later."
)


@dataclass(frozen=True, slots=True)
class Match:
    """A pattern with what speaks for it; `text` is what it was found by."""

    pattern: Pattern
    evidence: Evidence
    text: str

    @property
    def log_odds(self) -> float:
        return self.evidence.log_odds


@dataclass(frozen=True, slots=True)
class Matches:
    """The best first."""

    matches: list[Match]
    notice: str | None


def find(
    symptom: Symptom,
    *,
    category: str | None = None,
    tags: Sequence[str] = (),
    among: QuerySet[Pattern] | None = None,
) -> Matches:
    """Those worth weighing, found by words, meaning or a signature; not in a transaction."""
    found = _search(symptom, among, LOOKED_AT)
    hits = {hit.record_id: hit for hit in found.hits}
    state = vocabulary.state()
    signed = signatures.found_in(symptom.texts, signatures.at(state))
    known = vocabulary.at(state)
    candidates = Pattern.objects.published() if among is None else among
    if others := signed.keys() - hits.keys():
        # Without words and meaning, a signature would weigh less than among the nearest.
        among_others = _search(symptom, candidates.filter(pk__in=others), len(others))
        hits |= {hit.record_id: hit for hit in among_others.hits}
    patterns = candidates.filter(pk__in={*hits, *signed}).defer("shipped", "offered")
    matches = [
        _match(symptom, pattern, hits.get(pattern.pk), signed, known, category, tags)
        for pattern in patterns
    ]
    return Matches(
        sorted(matches, key=lambda match: (-match.log_odds, match.pattern.key)),
        found.notice if known.patterns else NO_PATTERNS,
    )


def _search(symptom: Symptom, records: QuerySet[Pattern] | None, limit: int) -> search.Found:
    return search.find(
        symptom.read.text,
        domain=library.DOMAIN,
        projects=None,
        records=records,
        limit=limit,
        headline=symptom.read.headline,
    )


def _match(
    symptom: Symptom,
    pattern: Pattern,
    hit: Hit | None,
    signed: dict[int, str],
    known: Vocabulary,
    category: str | None,
    tags: Sequence[str],
) -> Match:
    evidence = weighing.evidence(
        symptom,
        pattern,
        hit,
        signed.get(pattern.pk, ""),
        known=known,
        category=category,
        tags=frozenset(tag.lower() for tag in tags),
    )
    return Match(pattern, evidence, hit.text if hit else "")

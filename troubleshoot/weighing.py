"""Weighs the evidence for a pattern: a probability made of its own evidence alone.

Probabilities of several patterns do not add up to one: one weak match stays weak, two strong ones
stay strong. docs/troubleshooting.md describes how the weights were found.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet

from contextd.search import Hit
from remediations.scoring import Scores
from remediations.services import Match as PastFix
from troubleshoot.models import Pattern
from troubleshoot.symptoms import Symptom, kind_of_text
from troubleshoot.vocabulary import Vocabulary

BASE = -5.5
MEANING, WORDS, HEADLINE = 4.0, 5.0, 1.0
SIGNATURE, WORDING = 1.0, 1.2
"""For a signature at all, and for the logarithm of how much text it fits: long is special."""

SAME_KIND, NAMED, NAMED_LANGUAGE, OTHER_LANGUAGE = 0.8, 1.0, 0.3, -2.0
"""The language alone says little: all errors of a program name it."""

FITTING_VERSION, OTHER_VERSION = 0.5, -2.0
CATEGORY, OTHER_CATEGORY, TAG = 0.5, -0.5, 0.4
TRUST = 1.5
FIXED_BEFORE = 1.6
EVEN_MATCH, STEEPNESS = 0.75, 16.0
"""A remediation that matches this well is as likely right as wrong, until it is rated."""

UNRATED = 0.5
"""The confidence of a remediation without ratings, or with as many bad ones as good ones."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a pattern; `signature` is the part of the text that matches one of its own.

    `information` is how much the shared words say, from 0 to 1. It scales `words` and `headline`,
    which are relative to the error: `Error` alone shares all its words with many patterns. With a
    signature it is 1.
    """

    meaning: float
    words: float
    headline: float
    information: float
    signature: str
    same_kind: bool
    names_technology: bool
    names_language: bool
    other_language: bool
    fits_version: bool | None
    same_category: bool | None
    shared_tags: int
    trust: float

    @property
    def log_odds(self) -> float:
        """The logarithm of the odds that this is the cause."""
        suspected = (
            0.0 if self.same_category is None else (OTHER_CATEGORY, CATEGORY)[self.same_category]
        )
        return (
            BASE
            + MEANING * self.meaning
            + self.information * (WORDS * self.words + HEADLINE * self.headline)
            + self._wording
            + SAME_KIND * self.same_kind
            + self._named
            + OTHER_LANGUAGE * self.other_language
            + suspected
            + self._version
            + TAG * min(2, self.shared_tags)
            + TRUST * self.trust
        )

    @property
    def _named(self) -> float:
        return NAMED if self.names_technology else NAMED_LANGUAGE * self.names_language

    @property
    def _version(self) -> float:
        if self.fits_version is None:
            return 0.0
        return FITTING_VERSION if self.fits_version else OTHER_VERSION

    @property
    def _wording(self) -> float:
        if not self.signature:
            return 0.0
        return SIGNATURE + WORDING * math.log1p(len(self.signature))


def evidence(
    symptom: Symptom,
    pattern: Pattern,
    hit: Hit | None,
    signature: str,
    *,
    known: Vocabulary,
    category: str | None = None,
    tags: frozenset[str] = frozenset(),
) -> Evidence:
    """Collect it; `tags` are in lower case, `hit` is None where only a signature was found."""
    own_tags = {tag.lower() for tag in (*pattern.tags, *pattern.technologies)}
    return Evidence(
        meaning=max(0.0, (hit.cosine if hit else None) or 0.0),
        words=hit.lexical if hit else 0.0,
        headline=hit.trigram if hit else 0.0,
        information=1.0 if signature else _information(symptom, hit, known),
        signature=signature,
        same_kind=bool(symptom.kind) and symptom.kind in kinds(pattern),
        names_technology=symptom.names_tool_of(pattern.technologies),
        names_language=symptom.names_one_of(pattern.technologies),
        other_language=symptom.excludes(pattern.technologies),
        fits_version=fits_version(symptom, pattern),
        same_category=None if category is None else category == pattern.category,
        shared_tags=len(own_tags & tags),
        trust=2 * pattern.success_rate - 1,
    )


def _information(symptom: Symptom, hit: Hit | None, known: Vocabulary) -> float:
    if hit is None:
        return 0.0
    return known.information(symptom.informative_words, f"{hit.headline}\n{hit.text}")


def fits_version(symptom: Symptom, pattern: Pattern) -> bool | None:
    """Return None where the caller gives no version that decides."""
    fits = [
        SpecifierSet(versions).contains(given)
        for product, versions in pattern.versions.items()
        if (given := symptom.version_of(product))
    ]
    return all(fits) if fits else None


def kinds(pattern: Pattern) -> set[str | None]:
    return {kind_of_text(error) for error in pattern.errors}


def log_odds_of_fix(scores: Scores) -> float:
    """Weigh whether a remediation ends this error, by its match and its rating.

    One that failed more often than it worked is less likely in proportion to its rating.
    """
    of_match = STEEPNESS * (scores.match - EVEN_MATCH)
    if has_failed(scores):
        return log_odds(scores.confidence / UNRATED * probability(of_match))
    return of_match + TRUST * (2 * scores.confidence - 1)


def has_failed(scores: Scores) -> bool:
    """Return whether a remediation was reported as failing more often than as working."""
    return scores.confidence < UNRATED


def log_odds_of_cases(cases: Sequence[PastFix]) -> float:
    """Return what past fixes of the same cause add: the rating of the best that has not failed."""
    ratings = [fix.scores.confidence for fix in cases if not has_failed(fix.scores)]
    return FIXED_BEFORE * max(ratings, default=0.0)


def probability(log_odds: float) -> float:
    return 1 / (1 + math.exp(-_bounded(log_odds)))


def log_odds(probability: float) -> float:
    return math.log(probability / (1 - probability))


def odds(log_odds: float) -> float:
    return math.exp(_bounded(log_odds))


def _bounded(log_odds: float) -> float:
    return max(-50.0, min(50.0, log_odds))

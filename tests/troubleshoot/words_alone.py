"""Weighs all shipped patterns for many errors at once, by words and signatures, without meaning.

The same weights as in a diagnosis, on an index kept in memory: 2,000 errors take seconds.
"""

import copy
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from contextd import search
from contextd.search import Hit, terms
from contextd.search.ranking import RECIPE
from troubleshoot import library, signatures, symptoms, vocabulary, weighing
from troubleshoot.models import Pattern

COMPARED = 25


@dataclass
class Passage:
    pattern: int
    is_example: bool
    headline: str
    text: str
    weights: Mapping[str, float]

    @cached_property
    def trigrams(self) -> frozenset[str]:
        return trigrams(self.headline)


def trigrams(text: str) -> frozenset[str]:
    """As pg_trgm makes them."""
    padded = [f"  {word} " for word in re.findall(r"\w+", text[:300].lower())]
    return frozenset(word[i : i + 3] for word in padded for i in range(len(word) - 2))


@dataclass
class WordsAlone:
    patterns: dict[int, Pattern]
    passages: list[Passage] = field(default_factory=list)
    postings: dict[str, list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of_shipped(cls) -> "WordsAlone":
        rows = [
            Pattern(pk=number, key=record.key, **record.values)
            for number, record in enumerate(library.read().records)
        ]
        index = cls({row.pk: row for row in rows})
        for row in rows:
            index.add(row.pk, [library.text_of(row)], is_example=False)
            index.add(row.pk, library.examples_of(row), is_example=True)
        return index

    def add(self, pattern: int, texts: Iterable[tuple[str, str]], *, is_example: bool) -> None:
        for headline, body in texts:
            for cut in search.cut(headline, body).passages:
                weights = terms.weights(cut.counts)
                for term, weight in weights.items():
                    self.postings[term].append((len(self.passages), weight))
                self.passages.append(Passage(pattern, is_example, cut.headline, cut.text, weights))

    @cached_property
    def vocabulary(self) -> vocabulary.Vocabulary:
        return vocabulary.of_patterns(self.patterns.values())

    @cached_property
    def signatures(self) -> Sequence[signatures.Signature]:
        return signatures.compiled({pk: row.signatures for pk, row in self.patterns.items()})

    def ranked(self, error: str, without_examples_of: int | None = None) -> list[str]:
        """Keys of patterns, the likeliest first; what is left out tells no kind of error either."""
        symptom = symptoms.read(error, facts={}, tags=())
        known = self.patterns
        if without_examples_of:
            bare = copy.copy(known[without_examples_of])
            bare.errors = []
            known = known | {without_examples_of: bare}
        hits = self._hits(symptom.read.text, symptom.read.headline, without_examples_of)
        signed = signatures.found_in(symptom.texts, self.signatures)
        log_odds = {
            pk: weighing.evidence(
                symptom, known[pk], hits.get(pk), signed.get(pk, ""), known=self.vocabulary
            ).log_odds
            for pk in {*hits, *signed}
        }
        return [
            self.patterns[pk].key for pk in sorted(log_odds, key=lambda pk: (-log_odds[pk], pk))
        ]

    def _hits(self, text: str, headline: str, left_out: int | None) -> dict[int, Hit]:
        lexical = self._lexical(text, left_out)
        shape = trigrams(headline)
        hits: dict[int, Hit] = {}
        for number, share in lexical.most_common(COMPARED):
            passage = self.passages[number]
            union = len(shape | passage.trigrams)
            likeness = len(shape & passage.trigrams) / union if union else 0.0
            value = RECIPE.words * share + RECIPE.headline * likeness
            if passage.pattern not in hits or value > hits[passage.pattern].score:
                hits[passage.pattern] = Hit(
                    record_id=passage.pattern,
                    headline=passage.headline,
                    text=passage.text,
                    first_line=1,
                    last_line=1,
                    score=value,
                    cosine=None,
                    lexical=share,
                    trigram=likeness,
                )
        return hits

    def _lexical(self, text: str, left_out: int | None) -> Counter[int]:
        """What each passage has of the most that BM25 could give, the best ones only."""
        asked = {
            term: weight * terms.rarity(len(self.passages), len(self.postings.get(term, ())))
            for term, weight in terms.query_weights(text).items()
        }
        most = sum(asked.values()) * (terms.SATURATION + 1)
        shares = np.zeros(len(self.passages))
        for term, weight in asked.items():
            if term in self.columns:
                numbers, weights = self.columns[term]
                shares[numbers] += weights * (weight / most)
        shares[self.examples_of == left_out] = 0
        best = np.argsort(shares)[-COMPARED:]
        return Counter({int(number): float(shares[number]) for number in best if shares[number]})

    @cached_property
    def columns(self) -> dict[str, tuple[Any, Any]]:
        """For each word the passages it stands in, and its weights there."""
        return {
            term: (np.array([n for n, _ in column]), np.array([weight for _, weight in column]))
            for term, column in self.postings.items()
        }

    @cached_property
    def examples_of(self) -> Any:
        """For each passage the pattern that it is an example of; -1 for what is none."""
        return np.array([p.pattern if p.is_example else -1 for p in self.passages])

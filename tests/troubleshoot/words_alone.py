"""Weighs all shipped patterns for many errors at once, by words and signatures, without meaning.

The same weights as in a diagnosis, on an index kept in memory: 2,000 errors take seconds.
"""

import copy
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from contextd import search
from contextd.search import Hit, terms
from contextd.search.ranking import RECIPE
from troubleshoot import library, signatures, symptoms, vocabulary, weighing
from troubleshoot.models import Pattern
from troubleshoot.vocabulary import Vocabulary

COMPARED = 25


@dataclass
class Passage:
    pattern: int
    example: str | None
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
    """`columns` has for each word the passages it stands in, and its weights there."""

    patterns: dict[int, Pattern]
    vocabulary: Vocabulary
    signatures: Sequence[signatures.Signature]
    passages: Sequence[Passage]
    columns: Mapping[str, tuple[Any, Any]]
    hidden: Sequence[int] = ()

    @classmethod
    def of_shipped(cls) -> "WordsAlone":
        rows = [
            Pattern(pk=number, key=record.key, **record.values)
            for number, record in enumerate(library.read().records)
        ]
        passages = [passage for row in rows for passage in passages_of(row)]
        return cls(
            patterns={row.pk: row for row in rows},
            vocabulary=vocabulary.of_patterns(rows),
            signatures=signatures.compiled({row.pk: row.signatures for row in rows}),
            passages=passages,
            columns=columns_of(passages),
        )

    def without(self, examples: Mapping[int, Collection[str]]) -> "WordsAlone":
        """Leave out these examples, by pattern; then they tell no kind of error and no word."""
        bare = {pk: copy.copy(self.patterns[pk]) for pk in examples}
        for pk, left_out in examples.items():
            bare[pk].errors = [error for error in bare[pk].errors if error not in left_out]
        counts = Counter(self.vocabulary.counts)
        counts.subtract(vocabulary.of_patterns(self.patterns[pk] for pk in examples).counts)
        counts.update(vocabulary.of_patterns(bare.values()).counts)
        return replace(
            self,
            patterns=self.patterns | bare,
            vocabulary=Vocabulary(self.vocabulary.patterns, counts),
            hidden=[
                number
                for number, passage in enumerate(self.passages)
                if passage.example in examples.get(passage.pattern, ())
            ],
        )

    def ranked(self, error: str) -> list[str]:
        """Keys of patterns, the likeliest first."""
        symptom = symptoms.read(error, facts={}, tags=())
        hits = self._hits(symptom.read.text, symptom.read.headline)
        signed = signatures.found_in(symptom.texts, self.signatures)
        log_odds = {
            pk: weighing.evidence(
                symptom, self.patterns[pk], hits.get(pk), signed.get(pk, ""), known=self.vocabulary
            ).log_odds
            for pk in {*hits, *signed}
        }
        return [
            self.patterns[pk].key for pk in sorted(log_odds, key=lambda pk: (-log_odds[pk], pk))
        ]

    def _hits(self, text: str, headline: str) -> dict[int, Hit]:
        lexical = self._lexical(text)
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

    def _lexical(self, text: str) -> Counter[int]:
        """What each passage has of the most that BM25 could give, the best ones only."""
        asked = {
            term: weight
            * terms.rarity(
                len(self.passages), len(self.columns[term][0]) if term in self.columns else 0
            )
            for term, weight in terms.query_weights(text).items()
        }
        most = sum(asked.values()) * (terms.SATURATION + 1)
        shares = np.zeros(len(self.passages))
        for term, weight in asked.items():
            if term in self.columns:
                numbers, weights = self.columns[term]
                shares[numbers] += weights * (weight / most)
        shares[[*self.hidden]] = 0
        best = np.argsort(shares)[-COMPARED:]
        return Counter({int(number): float(shares[number]) for number in best if shares[number]})


def passages_of(row: Pattern) -> Iterator[Passage]:
    examples = zip(row.errors, library.examples_of(row), strict=True)
    for example, text in [(None, library.text_of(row)), *examples]:
        for cut in search.cut(*text).passages:
            yield Passage(row.pk, example, cut.headline, cut.text, terms.weights(cut.counts))


def columns_of(passages: Sequence[Passage]) -> dict[str, tuple[Any, Any]]:
    postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for number, passage in enumerate(passages):
        for term, weight in passage.weights.items():
            postings[term].append((number, weight))
    return {
        term: (np.array([n for n, _ in column]), np.array([weight for _, weight in column]))
        for term, column in postings.items()
    }

"""How well a remediation fits an error: `match` is 0.7 of its meaning and 0.3 of its wording."""

from dataclasses import dataclass

from contextd import faults
from contextd.search import Hit
from contextd.search.ranking import Weights
from remediations.models import Remediation
from remediations.reading import Reading

MEANING, WORDING = 0.7, 0.3
WORDS, HEADLINE = 0.8, 0.2
WEIGHTS = Weights(MEANING / 2, WORDING * WORDS, WORDING * HEADLINE)
TRUST = 0.1
"""By this share feedback raises or lowers both scores at most."""

COMPARED = ["error_type", "calls", "worked", "did_not_work", "outdated"]
ENOUGH_SHARED = 0.5
"""From this overlap on, two stacks are called alike."""


@dataclass(frozen=True, slots=True)
class Scores:
    semantic: float
    string: float
    same_stack: bool
    same_type: bool
    confidence: float

    @property
    def match(self) -> float:
        return MEANING * self.semantic + WORDING * self.string

    def as_dict(self) -> dict[str, float | bool]:
        return {
            "match_score": self.match,
            "semantic_score": self.semantic,
            "string_score": self.string,
            "stack_trace_match": self.same_stack,
            "error_type_match": self.same_type,
        }

    @property
    def order(self) -> tuple[float, float]:
        return (self.match, self.confidence)


def score(read: Reading, hit: Hit, remediation: Remediation) -> Scores:
    overlap = faults.stack_overlap(read.calls, remediation.calls)
    trust = 1 + TRUST * (2 * remediation.confidence - 1)
    return Scores(
        semantic=min(1.0, trust * semantic(hit)),
        string=min(1.0, trust * string(hit)),
        same_stack=overlap >= ENOUGH_SHARED,
        same_type=faults.same_type(read.error_type, remediation.error_type),
        confidence=remediation.confidence,
    )


def semantic(hit: Hit) -> float:
    return max(0.0, (1 + (hit.cosine or 0.0)) / 2)


def string(hit: Hit) -> float:
    return WORDS * hit.lexical + HEADLINE * hit.trigram

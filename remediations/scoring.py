"""How well a remediation fits an error: `match` is 0.7 of its meaning and 0.3 of its wording.

docs/retrieval.md tells what else was tried, and what 0.5 stands for.
"""

from dataclasses import dataclass

from contextd import faults
from contextd.search import Hit, Weights
from remediations.models import Remediation
from remediations.reading import Reading

MEANING, WORDING = 0.7, 0.3
WORDS, HEADLINE = 0.75, 0.25
ENOUGH_WORDS = 0.5
"""BM25 gives about this share of its most to a passage with all words of the query, each once."""

SAME_TYPE, SAME_STACK = 0.05, 0.15
ENOUGH_OF_STACK = 0.5
TRUST = 0.1
VAGUE = 0.5
"""A vague error matches another one only so far, unless both read the same."""

COMPARED = ["error_type", "calls", "seen_count", "worked", "did_not_work", "outdated"]
WEIGHTS = Weights(
    meaning=MEANING / 2, words=WORDING * WORDS / ENOUGH_WORDS, headline=WORDING * HEADLINE
)


@dataclass(frozen=True, slots=True)
class Scores:
    """All between 0 and 1; `confidence` and `seen_count` decide between equal matches."""

    semantic: float
    string: float
    same_stack: bool
    same_type: bool
    confidence: float
    seen_count: int

    @property
    def match(self) -> float:
        return MEANING * self.semantic + WORDING * self.string

    @property
    def rank(self) -> tuple[float, float, int]:
        """Higher is better."""
        return self.match, self.confidence, self.seen_count


def score(read: Reading, hit: Hit, remediation: Remediation) -> Scores:
    overlap = faults.stack_overlap(read.calls, remediation.calls)
    same_type = faults.same_type(read.error_type, remediation.error_type)
    trust = trust_in(remediation)
    if is_same(read, hit):
        meaning, wording = 1.0 if hit.cosine is not None else semantic(hit), 1.0
    else:
        trust *= VAGUE if read.is_vague else 1.0
        meaning, wording = semantic(hit), string(hit, same_type=same_type, overlap=overlap)
    return Scores(
        semantic=min(1.0, trust * meaning),
        string=min(1.0, trust * wording),
        same_stack=overlap >= ENOUGH_OF_STACK,
        same_type=same_type,
        confidence=remediation.confidence,
        seen_count=remediation.seen_count,
    )


def is_same(read: Reading, hit: Hit) -> bool:
    """Whether the hit begins with the very error, so that the length of its fix must not count."""
    has_headline = bool(read.headline) and read.headline == hit.headline
    return has_headline and hit.text.startswith(read.details)


def semantic(hit: Hit) -> float:
    """The cosine, moved from -1..1 to 0..1; one half for what is not embedded yet."""
    return min(1.0, max(0.0, (1 + (hit.cosine or 0.0)) / 2))


def string(hit: Hit, *, same_type: bool, overlap: float) -> float:
    """How much wording is shared, a little more for kindred types and stacks."""
    words = min(1.0, hit.lexical / ENOUGH_WORDS)
    shared = WORDS * words + HEADLINE * hit.trigram
    return min(1.0, shared * (1 + SAME_TYPE * same_type + SAME_STACK * overlap))


def trust_in(remediation: Remediation) -> float:
    """What feedback makes of a score: 1 while there is none, 10 % more or less at most."""
    return 1 + TRUST * (2 * remediation.confidence - 1)

"""Score remediations for an error: `match` is 0.7 of the meaning and 0.3 of the wording.

docs/retrieval.md describes the meaning of 0.5,
docs/adr/0007-one-ranking-for-all-searches.md the alternatives.
"""

from dataclasses import dataclass

from contextd import faults
from contextd.search import Hit, Weights
from remediations import reading
from remediations.models import Remediation
from remediations.reading import Reading

MEANING, WORDING = 0.7, 0.3
WORDS, HEADLINE = 0.75, 0.25
ENOUGH_WORDS = 0.5
"""Approximate share of the maximum BM25 score for a passage with each query word once."""

SAME_TYPE, SAME_STACK = 0.05, 0.15
ENOUGH_OF_STACK = 0.5
TRUST = 0.1
VAGUE = 0.5
"""Factor on the match of a vague error with one that does not read the same."""

COMPARED = [
    *("error_message", "error_type", "stack_trace", "calls"),
    *("seen_count", "worked", "did_not_work", "outdated"),
]
WEIGHTS = Weights(
    meaning=MEANING / 2, words=WORDING * WORDS / ENOUGH_WORDS, headline=WORDING * HEADLINE
)


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores from 0 to 1; `same_text`, `confidence` and `seen_count` break ties."""

    semantic: float
    string: float
    same_stack: bool
    same_type: bool
    confidence: float
    seen_count: int
    same_text: bool

    @property
    def match(self) -> float:
        return MEANING * self.semantic + WORDING * self.string

    @property
    def rank(self) -> tuple[float, bool, float, int]:
        """Higher is better."""
        return self.match, self.same_text, self.confidence, self.seen_count


def score(read: Reading, hit: Hit, remediation: Remediation) -> Scores:
    overlap = faults.stack_overlap(read.calls, remediation.calls)
    same = is_same(read, hit, remediation)
    same_type = same or is_same_type(read, hit, remediation)
    trust = trust_in(remediation)
    if same:
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
        same_text=same and has_line(remediation, read.error_line),
    )


def is_same(read: Reading, hit: Hit, remediation: Remediation) -> bool:
    """Return whether the remediation is of this error; the fix's length then must not count.

    Its own text is compared, since a hit is a part of it and has a long headline shortened.
    """
    if not hit.headline or not read.headline.startswith(hit.headline):
        return False
    if read.is_vague and not read.details:
        return read.headline == hit.headline and is_alone(read, remediation)
    # To read a long stack takes time; most that differ do so in the innermost call.
    if read.calls and read.calls[:1] != tuple(remediation.calls[:1]):
        return False
    return reading.begins_with(remediation.error_message, remediation.stack_trace, read)


def is_alone(read: Reading, remediation: Remediation) -> bool:
    """Return whether a vague line is all that the remediation's error says.

    A stack below it says where, not what. But a line without any informative word, such as
    `Error: Command failed`, means something else wherever it has more output.
    """
    if faults.informative_words(read.headline):
        return "\n" not in faults.focus(remediation.error_message, frames=0)
    return not remediation.stack_trace and "\n" not in remediation.error_message.strip()


def is_same_type(read: Reading, hit: Hit, remediation: Remediation) -> bool:
    """Return whether the types are equal or related; a message may say it without naming a type."""
    if faults.same_type(read.error_type, remediation.error_type):
        return True
    family = faults.family(read.error_type, read.headline)
    return family is not None and family == faults.family(remediation.error_type, hit.headline)


def has_line(remediation: Remediation, error_line: str) -> bool:
    """Return whether the remediation's message has this line with the same numbers and paths."""
    message, line = (" ".join(text.split()) for text in (remediation.error_message, error_line))
    return f" {line} " in f" {message} "


def semantic(hit: Hit) -> float:
    """Return the cosine, mapped from -1..1 to 0..1; one half if not embedded yet."""
    return min(1.0, max(0.0, (1 + (hit.cosine or 0.0)) / 2))


def string(hit: Hit, *, same_type: bool, overlap: float) -> float:
    """Return the similarity of wording, slightly raised for related types and stacks."""
    words = min(1.0, hit.lexical / ENOUGH_WORDS)
    shared = WORDS * words + HEADLINE * hit.trigram
    return min(1.0, shared * (1 + SAME_TYPE * same_type + SAME_STACK * overlap))


def trust_in(remediation: Remediation) -> float:
    """Return the factor from feedback: 1 without any, at most 10 % more or less."""
    return 1 + TRUST * (2 * remediation.confidence - 1)

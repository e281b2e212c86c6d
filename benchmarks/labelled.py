"""The labelled errors, and the sentences that they share with patterns."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import yaml

from benchmarks.server import ROOT

FOLDER = ROOT / "tests/troubleshoot"
PARTS = ("development", "held out", "unseen")
LONG_RUN, FIXED_IN_LONG_RUN = 6, 5
MIN_SHARE, MIN_FIXED = 0.6, 4
"""Fewer fixed words are no sentence: all errors of a tool have `Build failed`."""
BESIDE_NAME = 2
"""So many equal words stand on both sides of a bare name."""
PAIRS_IN_RUN = 2
"""The shortest shared run has so many pairs of neighbours, also with a bare name in it."""

_QUOTED = re.compile(r"(?<!\w)([\"'`“])((?:(?!\1).)*?)[\"'`”](?!\w)")
_NAME = re.compile(
    r"(?:[@~/]|\b)[\w@~+-]*(?:[\d_/\\]|[.:]+(?=\w))[\w@~/\\.:+-]*(?<![.:])"
    r"|\b[A-Za-z]*[a-z][A-Z]\w*|(?<!\w)\(\w+\)"
)
_LOGGER = re.compile(r"^\s*[A-Z]+:[\w.]+:(?=\S)")
_SENTENCE_END = re.compile(r"(?<=[.!?;]) |\n")
_PREFIX = re.compile(r"^(?:[^\w<#]*[\w.#<>\[\]()-]+[:\]] +)+")
_FRAME = re.compile(
    r".*\bTraceback \(|\s*at \S+ ?\(|\s*from \S+:\d|.*\bFile \"|.*\bthe above exception\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"#|[a-z]+(?:['-][a-z]+)*")

Words = tuple[str, ...]
Pair = tuple[tuple[str, str], int]
"""Two neighbouring words, and how often they occurred before."""


@dataclass(frozen=True)
class Labelled:
    """An error and the keys of the patterns that explain it, any of which is right."""

    error: str
    expected: frozenset[str]
    part: str


def cases() -> list[Labelled]:
    """Return the errors that share no sentence with a pattern."""
    return _read("labelled.yaml")


def same_wordings() -> list[Labelled]:
    """Return the errors that share a sentence with a pattern, since their tool has no other."""
    return _read("same_wordings.yaml")


@cache
def _read(name: str) -> list[Labelled]:
    parts = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    return [
        Labelled(case["error"], frozenset(case["expect"]), part)
        for part, written in parts.items()
        for case in written
    ]


class Texts:
    """Texts, indexed by pairs of words, so that an error is compared with few of them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_pair: dict[Pair, set[str]] = defaultdict(set)
        for text in texts:
            for pair in _pairs(text):
                self._by_pair[pair].add(text)

    def sharing(self, error: str) -> list[str]:
        """Return the texts that have a sentence in common with the error."""
        pairs = Counter(text for pair in _pairs(error) for text in self._by_pair.get(pair, ()))
        alike = (text for text, count in pairs.items() if count >= PAIRS_IN_RUN)
        return sorted(sharing(error, alike))


def sharing(error: str, texts: Iterable[str]) -> list[str]:
    """Return the texts that have a sentence in common with the error."""
    return [text for text in texts if shared(error, text)]


def shared(error: str, text: str) -> set[str]:
    """Return the equal parts of sentences, whatever the names and values in them.

    Such a part is long, or most of the shorter sentence.
    """
    return {
        " ".join(run)
        for one in sentences(error)
        for other in sentences(text)
        for run in _equal_runs(one, other)
        if _is_most(run, min(len(one), len(other)))
    }


def _is_most(run: Words, length: int) -> bool:
    fixed = _fixed(run)
    is_long = len(run) >= LONG_RUN and fixed >= FIXED_IN_LONG_RUN
    return is_long or (len(run) >= MIN_SHARE * length and fixed >= MIN_FIXED)


def _equal_runs(one: Words, other: Words) -> Iterator[Words]:
    """Yield the runs of equal words; a single word that differs inside one is a bare name."""
    for start in range(1 - len(other), len(one)):
        compared = zip(one[max(start, 0) :], other[max(-start, 0) :], strict=False)
        runs: list[Words] = [()]
        for left, right in compared:
            if left == right:
                runs[-1] += (left,)
            else:
                runs.append(())
        yield from runs
        for before, after in pairwise(runs):
            if min(len(before), len(after)) >= BESIDE_NAME:
                yield (*before, "#", *after)


@cache
def sentences(text: str) -> frozenset[Words]:
    """Return the masked words of each sentence, without what precedes it, such as a type.

    Frames of a stack are no sentences.
    """
    lines = [_LOGGER.sub("", line) for line in text.splitlines() if not _FRAME.match(line)]
    parts = (_words(part) for part in _SENTENCE_END.split("\n".join(lines)))
    return frozenset(words for words in parts if _fixed(words) >= MIN_FIXED)


def _words(sentence: str) -> Words:
    masked = _PREFIX.sub("", mask(sentence)).lower()
    return tuple(re.sub(r"(?:# )+(?=#)", "", " ".join(_WORD.findall(masked))).split())


def mask(text: str) -> str:
    """Replace numbers and names that are quoted, dotted or the like, which differ in each case."""
    return _NAME.sub("#", _QUOTED.sub(_unquote, text))


def _unquote(quoted: re.Match[str]) -> str:
    """Return what is between the quotes if it is a sentence, such as a field of JSON."""
    return quoted[2] if len(quoted[2].split()) >= MIN_FIXED else "#"


@cache
def _pairs(text: str) -> frozenset[Pair]:
    """Return the neighbouring words, each time that they occur."""
    counts = Counter(pair for words in sentences(text) for pair in pairwise(words))
    return frozenset((pair, number) for pair, count in counts.items() for number in range(count))


def _fixed(words: Words) -> int:
    return sum(word != "#" for word in words)

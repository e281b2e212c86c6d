"""What a detector reports about a text."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Candidate(NamedTuple):
    """A credential at `start:end`, recognised by what stands from `evidence` on."""

    evidence: int
    start: int
    end: int
    kind: str


Detector = Callable[[str], Iterator[Candidate]]

# Where a word may begin: also behind the `\n` of a text inside JSON, and behind `%3D` in a URL.
WORD_START = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"


def secret_of(match: re.Match[str], kind: str) -> Candidate:
    """The group `secret` of a match."""
    start, end = match.span("secret")
    return Candidate(match.start(), start, end, kind)

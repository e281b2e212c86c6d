"""What the detectors report about a text, and the rules that most detectors consist of."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple


class Candidate(NamedTuple):
    """A credential at `start:end`; the text that identifies it begins at `evidence`."""

    evidence: int
    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Rule:
    """Finds the matches of a pattern: its group `secret`, or else the whole match."""

    kind: str
    hints: tuple[str, ...]  # a text that contains none of them is not searched
    pattern: re.Pattern[str]
    accepts: Callable[[str], bool] = bool

    def find(self, text: str) -> Iterator[Candidate]:
        if not any(hint in text for hint in self.hints):
            return
        group = self.pattern.groupindex.get("secret", 0)
        for match in self.pattern.finditer(text):
            if self.accepts(match[group]):
                yield Candidate(match.start(), *match.span(group), self.kind)

"""Replaces the credentials in a text."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

from contextd.redaction.assignments import assigned_credentials
from contextd.redaction.candidates import Candidate
from contextd.redaction.keys import private_keys
from contextd.redaction.placed import cookies, placed_credentials
from contextd.redaction.tokens import vendor_tokens

# The most specific first: where credentials overlap, the first one names the kind.
_DETECTORS: tuple[Callable[[str], Iterator[Candidate]], ...] = (
    private_keys,
    vendor_tokens,
    placed_credentials,
    cookies,
    assigned_credentials,
)
_MARKER = re.compile(r"\[REDACTED:[a-z0-9-]{1,40}\]")


@dataclass(frozen=True)
class Finding:
    """A credential that was found: its kind and position, never the credential itself."""

    kind: str
    line: int
    path: str = ""


@dataclass(frozen=True)
class Redacted:
    """A text whose credentials have been replaced."""

    text: str
    findings: tuple[Finding, ...]


def redact(text: str) -> Redacted:
    """Replace each credential with `[REDACTED:kind]`; repeating it changes nothing."""
    pieces, findings, position, line = [], [], 0, 1
    for credential in _credentials_in(text):
        before = text[position : credential.start]
        line += before.count("\n")
        findings.append(Finding(credential.kind, line))
        line += text.count("\n", credential.start, credential.end)
        pieces += [before, marker(credential.kind)]
        position = credential.end
    return Redacted("".join([*pieces, text[position:]]), tuple(findings))


def redact_lines(text: str) -> str:
    """Redact and keep the number of lines, so that line numbers stay right."""
    pieces, position = [], 0
    for credential in _credentials_in(text):
        breaks = text.count("\n", credential.start, credential.end)
        pieces += [text[position : credential.start], marker(credential.kind), "\n" * breaks]
        position = credential.end
    return "".join([*pieces, text[position:]])


def findings_of(text: str) -> tuple[Finding, ...]:
    """Return the credentials in a text that is refused rather than changed."""
    return redact(text).findings


def is_redacted(text: str) -> bool:
    """Return whether a text is only the mark of a replaced credential."""
    return _MARKER.fullmatch(text) is not None


def marker(kind: str) -> str:
    return f"[REDACTED:{kind}]"


def _credentials_in(text: str) -> list[Candidate]:
    """Return credentials that overlap neither each other nor existing marks, in text order."""
    apart: list[tuple[int, Candidate]] = []
    for rank, candidate in sorted(_ranked(text), key=lambda ranked: ranked[1].start):
        if apart and candidate.start < apart[-1][1].end:
            apart[-1] = _union(apart[-1], (rank, candidate))
        else:
            apart.append((rank, candidate))
    return [candidate for _, candidate in apart]


def _ranked(text: str) -> Iterator[tuple[int, Candidate]]:
    marks = [mark.span() for mark in _MARKER.finditer(text)]
    ends = [end for _, end in marks]
    for rank, candidate in enumerate(chain.from_iterable(detect(text) for detect in _DETECTORS)):
        next_mark = bisect_left(ends, candidate.evidence)
        if next_mark == len(marks) or marks[next_mark][0] > candidate.end:
            yield rank, candidate


def _union(one: tuple[int, Candidate], other: tuple[int, Candidate]) -> tuple[int, Candidate]:
    rank, candidate = min(one, other)
    start = min(one[1].start, other[1].start)
    return rank, candidate._replace(start=start, end=max(one[1].end, other[1].end))

"""The labelled errors, and the sentences that they share with patterns."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import yaml

from benchmarks.server import ROOT

FOLDER = ROOT / "tests/troubleshoot"
PARTS = ("development", "held out", "unseen")
MIN_WORDS = 4
"""Shorter parts of a text are no sentence: all errors of a tool have `Build failed`."""

_QUOTED = re.compile(r"(?<!\w)([\"'`“])(?:(?!\1).)*?[\"'`”](?!\w)")
_NAME = re.compile(r"(?:[@~/]|\b)[\w@~+-]*(?:[\d_/\\]|[.:]+(?=\w))[\w@~/\\.:+-]*")
_SENTENCE_END = re.compile(r"(?<=[.!?;]) |\n")
_PREFIX = re.compile(r"^(?:[^\w<#]*[\w.#<>\[\]()-]+[:\]] +)+")
_FRAME = re.compile(r"\s*Traceback|\s*at \S+ ?\(|\s*from \S+:\d|.*\bFile \"")


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
    """Return the errors that share a sentence with an example, since their tool has no other."""
    return _read("same_wordings.yaml")


@cache
def _read(name: str) -> list[Labelled]:
    parts = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    return [
        Labelled(case["error"], frozenset(case["expect"]), part)
        for part, written in parts.items()
        for case in written
    ]


def sharing(error: str, texts: Iterable[str]) -> list[str]:
    """Return the texts that have a sentence in common with the error."""
    return [text for text in texts if shared(error, text)]


def shared(error: str, text: str) -> set[str]:
    """Return the sentences of one that the other contains, whatever the names and values in it."""
    return {one for one in sentences(text) if one in masked(error)} | {
        one for one in sentences(error) if one in masked(text)
    }


@cache
def sentences(text: str) -> frozenset[str]:
    """Return the masked sentences without what precedes them, such as the type of the error.

    Frames of a stack are no sentences.
    """
    lines = "\n".join(line for line in text.splitlines() if not _FRAME.match(line))
    parts = (_PREFIX.sub("", masked(part)) for part in _SENTENCE_END.split(lines))
    return frozenset(part.strip(" .!?;") for part in parts if _words(part) >= MIN_WORDS)


@cache
def masked(text: str) -> str:
    """Replace numbers and names that are quoted, dotted or the like, which differ in each case."""
    return " ".join(_NAME.sub("#", _QUOTED.sub("#", text)).lower().split())


def _words(text: str) -> int:
    return len(re.findall(r"[a-z]+(?:['-][a-z]+)*", text))

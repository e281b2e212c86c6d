"""Finds the patterns whose exact codes and fixed wording stand in a text."""

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import regex

from troubleshoot.models import Pattern
from troubleshoot.vocabulary import State

LONGEST = 20_000
"""So much of a text is searched: of a longer one half at each end, since either has the error."""

SECONDS = 1.0
"""One that takes longer is left out: people write them, and some cannot be searched for."""

SHOWN = 120
_TOKEN = re.compile(
    r"""(?P<open>\((?:\?[^)\w]*[:=!<])?) | (?P<close>\)) | (?P<either>\|)
      | (?P<maybe>[?*]|\{\d*,?\d*\}) | (?P<literal>\\[^\w\s]|[^\\.^$|()\[\]{}*+?])
      | (?P<other>\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.)""",
    re.VERBOSE | re.DOTALL,
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Signature:
    """`needed` stands in every text that the expression fits, as far as can be told."""

    pattern_id: int
    expression: Any
    needed: str


@lru_cache(maxsize=1)
def at(state: State) -> Sequence[Signature]:
    """Return those of the published patterns."""
    rows = Pattern.objects.published().order_by("pk").values_list("pk", "signatures")
    return compiled(dict(rows))


def compiled(signatures: Mapping[int, Sequence[str]]) -> Sequence[Signature]:
    built = []
    for pattern_id, expressions in signatures.items():
        for expression in expressions:
            try:
                built.append(
                    Signature(pattern_id, regex.compile(expression), needed_by(expression))
                )
            except regex.error as error:
                logger.warning("pattern %s: %r is left out: %s", pattern_id, expression, error)
    return built


def needed_by(expression: str) -> str:
    """The longest piece of plain text that an expression asks for, empty where none is sure."""
    if "(?" in expression and regex.search(r"\(\?[a-zA-Z]", expression):
        return ""  # flags may make it blind to case
    runs, depth = [""], 0
    for token in _TOKEN.finditer(expression):
        kind = token.lastgroup
        depth += (kind == "open") - (kind == "close")
        if kind == "either" and not depth:
            return ""
        if kind == "literal" and not depth:
            runs[-1] += token[0][-1]
            continue
        if kind == "maybe":
            runs[-1] = runs[-1][:-1]
        runs.append("")
    return max(runs, key=len)


def found_in(texts: Sequence[str], signatures: Iterable[Signature]) -> dict[int, str]:
    """The ids of patterns, with the longest part of a text that fits one of their signatures."""
    texts = [part for text in texts for part in _searched(text)]
    found: dict[int, str] = {}
    for signature in signatures:
        for text in texts:
            if signature.needed in text:
                known = found.get(signature.pattern_id, "")
                found[signature.pattern_id] = max(known, _part(text, signature), key=len)
    return {pattern_id: part for pattern_id, part in found.items() if part}


def _searched(text: str) -> list[str]:
    return [text] if len(text) <= LONGEST else [text[: LONGEST // 2], text[-LONGEST // 2 :]]


def _part(text: str, signature: Signature) -> str:
    try:
        match = signature.expression.search(text, timeout=SECONDS)
    except TimeoutError:
        logger.warning(
            "pattern %s: %r takes too long", signature.pattern_id, signature.expression.pattern
        )
        return ""
    return " ".join(match[0].split())[:SHOWN] if match else ""

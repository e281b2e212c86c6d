"""Finds the patterns whose exact codes and fixed wording occur in a text."""

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import regex

from troubleshoot.models import Pattern
from troubleshoot.vocabulary import State

MAX_SEARCHED_LENGTH = 20_000
"""Of a longer text, half of this is searched at each end, since either has the error."""

MAX_SEARCH_SECONDS = 1.0
"""A search that takes longer is skipped: people write signatures, and some are too slow."""

MAX_SHOWN_LENGTH = 120
_TOKEN = re.compile(
    r"""(?P<open>\((?:\?[^)\w]*[:=!<])?) | (?P<close>\)) | (?P<either>\|)
      | (?P<maybe>[?*]|\{\d*,?\d*\}) | (?P<literal>\\[^\w\s]|[^\\.^$|()\[\]{}*+?])
      | (?P<other>\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.)""",
    re.VERBOSE | re.DOTALL,
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Signature:
    """`needed` occurs in every text that the expression matches; empty where that is unknown."""

    pattern_id: int
    expression: Any
    needed: str


@lru_cache(maxsize=1)
def at(state: State) -> Sequence[Signature]:
    """Return the signatures of the published patterns."""
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
                logger.warning("pattern %s: %r is skipped: %s", pattern_id, expression, error)
    return built


def needed_by(expression: str) -> str:
    """Return the longest literal text that every match contains, empty where none is certain."""
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
    """Return for each pattern id the longest part of a text that matches a signature of it."""
    texts = [part for text in texts for part in searched(text)]
    found: dict[int, str] = {}
    for signature in signatures:
        for text in texts:
            if signature.needed in text:
                known = found.get(signature.pattern_id, "")
                found[signature.pattern_id] = max(known, _part(text, signature), key=len)
    return {pattern_id: part for pattern_id, part in found.items() if part}


def groups_in(texts: Sequence[str], expressions: Iterable[str]) -> dict[str, str]:
    """Return what the named groups of signatures match, by name; the first match of each counts."""
    naming = [expression for expression in expressions if "(?P<" in expression]
    parts = [part for text in texts for part in searched(text)]
    found: dict[str, str] = {}
    for signature in compiled({0: naming}):
        for match in filter(None, (_match(part, signature) for part in parts)):
            found = {name: value for name, value in match.groupdict().items() if value} | found
    return found


def searched(text: str) -> list[str]:
    """Return the parts of a text that are searched."""
    if len(text) <= MAX_SEARCHED_LENGTH:
        return [text]
    half = MAX_SEARCHED_LENGTH // 2
    return [text[:half], text[-half:]]


def _part(text: str, signature: Signature) -> str:
    match = _match(text, signature)
    return " ".join(match[0].split())[:MAX_SHOWN_LENGTH] if match else ""


def _match(text: str, signature: Signature) -> Any:
    try:
        return signature.expression.search(text, timeout=MAX_SEARCH_SECONDS)
    except TimeoutError:
        logger.warning(
            "pattern %s: %r takes too long", signature.pattern_id, signature.expression.pattern
        )
        return None

"""Finds the patterns whose exact codes and fixed wording stand in a text."""

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import regex
from django.db.models import Count, Max

from troubleshoot.models import Pattern

LONGEST = 20_000
SECONDS = 0.05
"""One that takes longer is left out: people write them, and some cannot be searched for."""

SHOWN = 120

logger = logging.getLogger(__name__)

Signatures = Sequence[tuple[int, Any]]
"""Ids of patterns, with a compiled expression each."""


def current() -> Signatures:
    """Those of the published patterns, read anew when one of them has changed."""
    state = Pattern.objects.published().aggregate(Count("pk"), Max("updated_at"))
    return _of_state(*state.values())


@lru_cache(maxsize=1)
def _of_state(count: int, newest: Any) -> Signatures:
    rows = Pattern.objects.published().order_by("pk").values_list("pk", "signatures")
    return compiled(dict(rows))


def compiled(signatures: Mapping[int, Sequence[str]]) -> Signatures:
    built = []
    for pattern_id, expressions in signatures.items():
        for expression in expressions:
            try:
                built.append((pattern_id, regex.compile(expression)))
            except regex.error as error:
                logger.warning("pattern %s: %r is left out: %s", pattern_id, expression, error)
    return built


def found_in(text: str, signatures: Signatures) -> dict[int, str]:
    """The ids of patterns, with the longest part of the text that fits one of their signatures."""
    text = text[:LONGEST]
    found: dict[int, str] = {}
    for pattern_id, expression in signatures:
        if part := _part(text, pattern_id, expression):
            found[pattern_id] = max(found.get(pattern_id, ""), part, key=len)
    return found


def _part(text: str, pattern_id: int, expression: Any) -> str:
    try:
        match = expression.search(text, timeout=SECONDS)
    except TimeoutError:
        logger.warning("pattern %s: %r takes too long", pattern_id, expression.pattern)
        return ""
    return " ".join(match[0].split())[:SHOWN] if match else ""

"""Finds the patterns whose exact codes and fixed wording stand in a text."""

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import re2
from django.db.models import Count, Max

from troubleshoot.models import Pattern

LONGEST = 30_000
SHOWN = 120

logger = logging.getLogger(__name__)

Signatures = Sequence[tuple[int, Any]]
"""Ids of patterns with compiled expressions; RE2 takes a time in proportion to the text, always."""


def current() -> Signatures:
    """Those of the published patterns, read anew when one of them has changed."""
    state = Pattern.objects.published().aggregate(Count("pk"), Max("updated_at"))
    return _of_state(*state.values())


@lru_cache(maxsize=1)
def _of_state(count: int, newest: Any) -> Signatures:
    rows = Pattern.objects.published().order_by("pk").values_list("pk", "signatures")
    return compiled(dict(rows))


def compiled(signatures: Mapping[int, Sequence[str]]) -> Signatures:
    options = re2.Options()
    options.log_errors = False
    built = []
    for pattern_id, expressions in signatures.items():
        for expression in expressions:
            try:
                built.append((pattern_id, re2.compile(expression, options)))
            except re2.error:
                logger.warning("pattern %s: RE2 cannot read %r", pattern_id, expression)
    return built


def found_in(text: str, signatures: Signatures) -> dict[int, str]:
    """The ids of patterns, with the longest part of the text that fits one of their signatures."""
    text = text[:LONGEST]
    found: dict[int, str] = {}
    for pattern_id, expression in signatures:
        if match := expression.search(text):
            part = " ".join(match.group(0).split())[:SHOWN]
            found[pattern_id] = max(found.get(pattern_id, ""), part, key=len)
    return found

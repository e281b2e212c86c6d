"""How alike two lines are, letter by letter: the measure of pg_trgm."""

import re

_WORD = re.compile(r"[^\W_]+")


def trigrams(text: str) -> frozenset[str]:
    """Each word with two blanks before and one after, in pieces of three."""
    words = (f"  {word} " for word in _WORD.findall(text.lower()))
    return frozenset(word[i : i + 3] for word in words for i in range(len(word) - 2))


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """From 0 to 1: the share of their pieces that both have."""
    return len(one & other) / (len(one | other) or 1)

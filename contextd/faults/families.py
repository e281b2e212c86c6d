"""Decide whether two errors are of one kind, whatever language or tool named them."""

import re
from functools import lru_cache

from contextd.faults.kinds import KINDS

_MAX_LENGTH = 2_000
_PHRASES = tuple((kind.name, re.compile(kind.phrases)) for kind in KINDS)
_TYPES = {name: kind.name for kind in KINDS for name in kind.types.split()}
_TYPES_IN_LOWER_CASE = {name.lower(): kind for name, kind in _TYPES.items()}
_WORD = re.compile(r"[A-Za-z0-9_-]{2,}")
KIND_NAMES = frozenset(name.lower() for name in _TYPES if re.fullmatch(r"[A-Z][a-z]\w*", name))
"""The types in lower case that name a kind; codes such as `ECONNREFUSED` or `TS2322` are not."""


def family(error_type: str, message: str = "") -> str | None:
    """Return the kind of an error by its message, its type, or a name that it mentions."""
    return _family(error_type[:_MAX_LENGTH], message[:_MAX_LENGTH])


@lru_cache(maxsize=2048)
def _family(error_type: str, message: str) -> str | None:
    text = f"{error_type}: {message}"
    lowered = text.lower()
    for kind, phrases in _PHRASES:
        if phrases.search(lowered):
            return kind
    if kind_of_type := _TYPES_IN_LOWER_CASE.get(type_name(error_type)):
        return kind_of_type
    return next((_TYPES[word] for word in _WORD.findall(text) if word in _TYPES), None)


def same_type(one: str, other: str) -> bool:
    """Return whether two types have the same name, packages aside, or are of one family."""
    if type_name(one) == type_name(other):
        return bool(type_name(one))
    kind = family(one)
    return kind is not None and kind == family(other)


def type_name(error_type: str) -> str:
    """Return the name of a type in lower case, without its packages."""
    return re.split(r"[.:\\/$]", error_type.strip(" .:\\/$"))[-1].strip().lower()

"""Split qualified names of programs into parts, and derive their shorter forms."""

import re
from collections.abc import Iterable

_TYPE_PARAMETERS = re.compile(r"(?<=\w)<[^<>]*>")
_SEPARATOR = re.compile(r"\.|::|->|#|\\|:|\s+")
_MARKS = "?!"


def parts_of(name: str) -> list[str]:
    """Split a name: `Shop::Cart#empty?`, `Shop\\Cart->empty`, `shop.Cart.empty` have 3 parts."""
    return [part for part in _SEPARATOR.split(_TYPE_PARAMETERS.sub("", name)) if part]


def normalized(name: str) -> str:
    """Return the name with dots, without the marks of Ruby, Julia, PHP and others."""
    return ".".join(part.rstrip(_MARKS).lstrip("$") or part for part in parts_of(name))


def suffixes_of(name: str) -> list[str]:
    """Return `a.b.c`, `b.c` and `c` for `a.b.c`."""
    parts = normalized(name).split(".")
    return [".".join(parts[start:]) for start in range(len(parts))]


def known_as(symbols: Iterable[str]) -> list[str]:
    """Return every name that finds a file with these definitions."""
    known = (name for symbol in symbols for name in (symbol, *suffixes_of(symbol)) if name)
    return list(dict.fromkeys(known))


def shortened(name: str, most: int) -> str:
    """Return the end of a long qualified name, from the start of a part if possible."""
    if len(name) <= most:
        return name
    fitting = (name[found.end() :] for found in _SEPARATOR.finditer(name))
    return next((end for end in fitting if 0 < len(end) <= most), name[-most:])

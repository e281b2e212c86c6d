"""Names as programs write them: the parts of a qualified name, and what it is also known by."""

import re
from collections.abc import Iterable

_TYPE_PARAMETERS = re.compile(r"(?<=\w)<[^<>]*>")
_SEPARATOR = re.compile(r"\.|::|->|#|\\|:|\s+")
_MARKS = "?!"


def parts_of(name: str) -> list[str]:
    """`Shop::Cart#empty?`, `Shop\\Cart->empty` and `shop.Cart.empty` all have three parts."""
    return [part for part in _SEPARATOR.split(_TYPE_PARAMETERS.sub("", name)) if part]


def normalized(name: str) -> str:
    """The name with dots, without the marks that Ruby, Julia and others end names with."""
    return ".".join(part.rstrip(_MARKS) or part for part in parts_of(name))


def suffixes_of(name: str) -> list[str]:
    """`a.b.c`, `b.c`, `c`."""
    parts = normalized(name).split(".")
    return [".".join(parts[start:]) for start in range(len(parts))]


def known_as(symbols: Iterable[str]) -> list[str]:
    """Every name that a file with these definitions is found by."""
    known = (name for symbol in symbols for name in (symbol, *suffixes_of(symbol)) if name)
    return list(dict.fromkeys(known))


def shortened(name: str, most: int) -> str:
    """The end of a qualified name that is too long, from the beginning of a part where possible."""
    if len(name) <= most:
        return name
    fitting = (name[found.end() :] for found in _SEPARATOR.finditer(name))
    return next((end for end in fitting if 0 < len(end) <= most), name[-most:])

"""What a query names exactly: identifiers and paths among its words."""

import re
from dataclasses import dataclass

from repositories.languages import BY_SUFFIX

MOST_NAMES = 20

_WORD = re.compile(r"[\w$][\w$.:/\\#-]*[\w$]|\w")
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*")
_LIKE_CODE = re.compile(r"[A-Za-z0-9]_|_[A-Za-z0-9]|[a-z0-9][A-Z]|[.#]|::")
_QUOTED = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Named:
    """`alone` when the query says nothing else."""

    identifiers: list[str]
    paths: list[str]
    alone: bool

    @property
    def text(self) -> str:
        return " ".join([*self.identifiers, *self.paths])


def named_in(query: str) -> Named:
    quoted = {word for text in _QUOTED.findall(query) for word in _WORD.findall(text)}
    words = list(dict.fromkeys(_WORD.findall(query)))[: 10 * MOST_NAMES]
    paths = [word for word in words if _is_path(word)]
    identifiers = [
        word
        for word in words
        if word not in paths
        and _NAME.fullmatch(word)
        and (len(words) == 1 or word in quoted or _LIKE_CODE.search(word))
    ]
    alone = len(words) == len(paths) + len(identifiers)
    return Named(identifiers[:MOST_NAMES], paths[:MOST_NAMES], alone)


def _is_path(word: str) -> bool:
    name, dot, suffix = word.rpartition("/")[2].rpartition(".")
    return "/" in word or (bool(name) and f"{dot}{suffix.lower()}" in BY_SUFFIX)

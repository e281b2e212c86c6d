"""What a query names exactly: identifiers and paths among its words."""

import re
from dataclasses import dataclass

from repositories.languages import BY_NAME, BY_SUFFIX

MOST_NAMES = 20

_WORD = re.compile(r"[\w$][\w$.:/\\#-]*[\w$]|\w")
_PATH = re.compile(r"[\w.@~$+\[\]-]*(?:/[\w.@$+\[\]-]+)+")
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*")
_LIKE_CODE = re.compile(r"[A-Za-z0-9]_|_[A-Za-z0-9]|[a-z0-9][A-Z]|[.#]|::")
_QUOTED = re.compile(r"`([^`]+)`")
_CALLED = re.compile(r"([A-Za-z_$][\w$.:]*)\(\)")
_PLACE = re.compile(r"(?::\d+){1,2}(?!\w)|#L\d+(?:-L?\d+)?")
"""Where in a file, as compilers and web pages say it."""


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
    query = _PLACE.sub("", query)
    marked = [*_QUOTED.findall(query), *_CALLED.findall(query)]
    as_code = {word for text in marked for word in _WORD.findall(text)}
    with_folders = [path.rstrip(".") for path in _PATH.findall(query)]
    words = list(dict.fromkeys(_WORD.findall(_PATH.sub(" ", query))))[: 10 * MOST_NAMES]
    files = [word for word in words if _is_file_name(word)]
    identifiers = [
        word
        for word in words
        if word not in files
        and _NAME.fullmatch(word)
        and (word in as_code or _LIKE_CODE.search(word) or words + with_folders == [word])
    ]
    alone = len(words) == len(files) + len(identifiers)
    paths = list(dict.fromkeys([*with_folders, *files]))
    return Named(identifiers[:MOST_NAMES], paths[:MOST_NAMES], alone)


def _is_file_name(word: str) -> bool:
    name, dot, suffix = word.rpartition(".")
    return word.lower() in BY_NAME or (bool(name) and f"{dot}{suffix.lower()}" in BY_SUFFIX)

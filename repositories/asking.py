"""Find identifiers and paths among the words of a query."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from repositories import names
from repositories.languages import BY_NAME, BY_SUFFIX, MEMBERS

MAX_NAMES = 20
MAX_PATH_CHARACTERS = 400
THIS = {"self", "Self", "this", "$this", "cls", "super", "crate"}

_SPECIAL = r"(?<![\w*/])\*[^\W\d][\w-]*\*(?![\w*/])"
"""A special variable of Lisp: `*current-cart*`."""
_PRIMED = r"(?<![\w'])[^\W\d][\w.]*'+(?!\w)"
"""A name of Haskell or OCaml such as `foldl'`, but no quoted word."""
_OPERATOR = r"(?:(?<=\boperator)(?:[!%&*+/<=>^|~-]+|\[\]|\(\)))?"
_WORD = re.compile(rf"{_SPECIAL}|{_PRIMED}|\.?[\w$][\w$.:/\\#>?!-]*[\w$]{_OPERATOR}|\w")
# Next.js and other frameworks use folders such as `[id]` and `(shop)`.
_STEP = r"(?:[\w.@$+~-]|\[[^\]\s/]*\]|\([^)\s/]*\))"
_PATH = re.compile(rf"{_STEP}*(?:/{_STEP}+)+")
_FILE = re.compile(rf"{_STEP}+")
_LIKE_A_PATH = re.compile(r"\S+|.*[/.][^\s/.]+")
_PART = r"(?:[^\W\d]|\$)[\w$]*(?:-[^\W\d]\w*)*"
_NAME = re.compile(rf"{_PART}(?:(?:\.|::|->|#|\\){_PART})*(?:[?!]|'+|{_OPERATOR})|{_SPECIAL}")
_LIKE_CODE = re.compile(r"[A-Za-z0-9]_|_[A-Za-z0-9]|[a-z0-9][A-Z]|[a-z]-[A-Z]|[.#\\]|::|->|[^\w$]$")
_MARKS = "*'"
_ABBREVIATION = re.compile(r"(?:\w\.)+\w")
_KINDS = "class|enum|function|impl|interface|module|struct|trait|type"
# Within a sentence, `type of` declares nothing, but `type Order` does.
_DECLARED = re.compile(rf"\b(?:(?:def|fn|func)\s+|(?:{_KINDS})\s+(?=[A-Z]|{_PART}\W*$))({_PART})")
_ARITY = re.compile(rf"(?<![\w/])((?:{_PART}\.)+{_PART}[?!]?)/\d{{1,2}}(?![\w/.])")
"""Elixir and Erlang write the number of arguments behind the name of a function."""
_SELECTOR = re.compile(r"(?<![\w:])([^\W\d]\w*):(?:[^\W\d]\w*:)+(?![\w:])")
"""Objective-C names all arguments; a method is indexed by the first part of its name."""
_TYPES = re.compile(r"(?<=\w)(?:::)?<(?:[\w$.:&*?\[\]]|,\s?|'\w)*>")
_QUOTED = re.compile(r"`([^`]+)`")
_CALLED = re.compile(r"([A-Za-z_$][\w$.:]*)\(\)")
_PLACE = re.compile(r"(?::\d+){1,2}(?!\w)|#L\d+(?:-L?\d+)?")
"""Line positions in a file, as compilers and web pages write them."""
_BACKSLASH = re.compile(r"(?<=[\w.)\]])\\(?=[\w.(\[])")


@dataclass(frozen=True, slots=True)
class Named:
    """The names in a query; `alone` if it contains nothing else.

    `identifiers` are separated by dots; `whole` is the query if all of it may be a path.
    """

    identifiers: list[str]
    paths: list[str]
    alone: bool
    whole: str = ""

    @property
    def text(self) -> str:
        return " ".join([*self.identifiers, *self.paths]) or self.whole

    @property
    def files(self) -> list[str]:
        """Return every path, without a prefix for the current folder."""
        found = [*([self.whole] if self.whole else []), *self.paths]
        return list(dict.fromkeys(path.removeprefix("./") for path in found))


def named_in(query: str) -> Named:
    query = _simplified(query)
    with_slashes = _BACKSLASH.sub("/", query)
    with_folders = [path.rstrip(".") for path in _PATH.findall(with_slashes)]
    without_paths = _PATH.sub(" ", with_slashes)
    files = [
        file for word in _FILE.findall(without_paths) if _is_file_name(file := word.rstrip("."))
    ]
    words = list(dict.fromkeys(_WORD.findall(_PATH.sub(" ", query))))[: 10 * MAX_NAMES]
    is_single = len([*words, *with_folders]) == 1
    identifiers = _identifiers([*words, *_unmarked(words)], query, is_single=is_single)
    alone = all(_is_file_name(word) or _code_in(word) in identifiers for word in words)
    paths = list(dict.fromkeys([*with_folders, *files]))
    whole = with_slashes if _may_be_a_path(with_slashes) else ""
    return Named(identifiers[:MAX_NAMES], paths[:MAX_NAMES], alone, whole)


def _simplified(query: str) -> str:
    """Remove what does not belong to names: places, numbers of arguments, types, selectors."""
    query = _ARITY.sub(r"\1", _PLACE.sub("", query))
    number = 1
    while number:  # the innermost types first
        query, number = _TYPES.subn("", query)
    return _SELECTOR.sub(r"\1", query).strip()


def _unmarked(words: Sequence[str]) -> list[str]:
    """Return the words that may be emphasised, or a possessive in a sentence."""
    marks = "*" if len(words) == 1 else _MARKS
    return [bare for word in words if (bare := word.strip(marks)) != word]


def _identifiers(words: Sequence[str], query: str, *, is_single: bool) -> list[str]:
    """Return words that look like code, are marked as code, or are the whole query."""
    marked = [*_QUOTED.findall(query), *_CALLED.findall(query), *_DECLARED.findall(query)]
    as_code = {word for text in marked for word in _WORD.findall(text)}
    found = [
        _code_in(word)
        for word in words
        if _NAME.fullmatch(word.removeprefix("."))
        and not _ABBREVIATION.fullmatch(word)
        and (is_single or _LIKE_CODE.search(word[1:]) or word.removeprefix(".") in as_code)
        and (_may_be_a_member(word) or word.removeprefix(".") in as_code)
    ]
    return list(dict.fromkeys(found))


def _may_be_a_member(word: str) -> bool:
    """Return whether it is no name of a file, or may also be an attribute: `Response.json`."""
    if word.startswith(".") or not _is_file_name(word):
        return True
    return word[0].isupper() or _suffix_of(word) in MEMBERS


def _code_in(word: str) -> str:
    """Return the word with dots, and without a reference to the enclosing object or type."""
    first, _, rest = names.normalized(word).partition(".")
    return rest if rest and first in THIS else names.normalized(word)


def _may_be_a_path(query: str) -> bool:
    return len(query) <= MAX_PATH_CHARACTERS and bool(_LIKE_A_PATH.fullmatch(query))


def _is_file_name(word: str) -> bool:
    """Return whether the word has a known name or suffix, or begins with a dot."""
    if word.lower() in BY_NAME or word.lower().partition(".")[0] in BY_NAME:
        return True
    return word.startswith(".") or _suffix_of(word) in BY_SUFFIX


def _suffix_of(word: str) -> str:
    name, dot, suffix = word.rpartition(".")
    return f"{dot}{suffix.lower()}" if name else ""

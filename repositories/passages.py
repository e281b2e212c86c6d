"""Build the passages of a file: its chunks, each under its path and the names it defines."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from contextd import redaction, search
from repositories import chunking, languages, names
from repositories.chunking import Chunk
from repositories.reading import SourceText

DOMAIN = "file"
VERSION = 5
"""Increase this when passages or symbols of files change: the next run indexes all again."""

MAX_PATH_CHARACTERS = 100
MAX_SYMBOL_CHARACTERS = 80
MIN_PATH_CHARACTERS, MIN_SYMBOL_CHARACTERS = 16, 31


@dataclass(frozen=True, slots=True)
class Indexed:
    """Everything stored about a file."""

    source: SourceText
    digest: str
    language: str
    symbols: list[str]
    prepared: search.Prepared
    is_complete: bool


def _ignore(_: str) -> None:
    """Ignore the report."""


def digest_of(source: SourceText) -> str:
    """A digest that changes whenever the file has to be indexed again."""
    content = f"{VERSION}\0{source.text}".encode(errors="replace")
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def index(source: SourceText, digest: str, report: Callable[[str], None] = _ignore) -> Indexed:
    """Split a file; `report` is called with its path repeatedly, and may raise to stop.

    Credentials are replaced before the split, since a part of one cannot be recognised.
    """
    language = languages.language_of(source.path, source.text)
    report(source.path)
    cut = chunking.cut(redaction.redact_lines(source.text), language)

    def parts() -> Iterator[search.Part]:
        for chunk in cut.chunks:
            report(source.path)
            yield _part(source.path, chunk)

    prepared = search.cut_parts(parts())
    symbols = names.known_as(cut.symbols)
    return Indexed(source, digest, language, symbols, prepared, cut.is_complete)


def _part(path: str, chunk: Chunk) -> search.Part:
    return search.Part(headline_of(path, chunk.symbols), chunk.text, chunk.first_line)


def headline_of(path: str, symbols: Sequence[str]) -> str:
    """Return the end of the path and as many whole names as the engine repeats in a headline."""
    shown, named = path[-MAX_PATH_CHARACTERS:].replace("\n", " "), _that_fit(symbols)
    while search.tokens_of(headline := _joined(shown, named)) > search.HEADLINE_TOKENS:
        if "/" in shown:
            shown = shown.partition("/")[2]
        elif len(named) > 1:
            named.pop()
        else:  # a token has at least one character
            end, (name, *_) = shown[-MIN_PATH_CHARACTERS:], [*named, ""]
            return _joined(end, [names.shortened(name, MIN_SYMBOL_CHARACTERS)])
    return headline


def _that_fit(symbols: Sequence[str]) -> list[str]:
    shortened = [names.shortened(symbol, MAX_SYMBOL_CHARACTERS) for symbol in symbols]
    ends = accumulate(len(symbol) + 2 for symbol in shortened)
    return [s for s, end in zip(shortened, ends, strict=True) if end <= MAX_SYMBOL_CHARACTERS + 2]


def _joined(path: str, named: Sequence[str]) -> str:
    return f"{path}\n{', '.join(named)}".strip()


def symbols_in(headline: str) -> list[str]:
    return [name for name in headline.partition("\n")[2].split(", ") if name]

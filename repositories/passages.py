"""What a file is found by: its chunks, each under its path and the names of what it defines."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from contextd import redaction, search
from repositories import chunking, languages
from repositories.chunking import Chunk
from repositories.reading import SourceText

DOMAIN = "file"
VERSION = 1
"""Raise it when other passages are made of a file: the next run then makes all anew."""

LONGEST_PATH = 100
LONGEST_SYMBOLS = 80
_QUALIFIED = re.compile(r"\.|::|#")


@dataclass(frozen=True, slots=True)
class Indexed:
    """All that is kept of a file."""

    source: SourceText
    digest: str
    language: str
    symbols: list[str]
    prepared: search.Prepared


def digest_of(source: SourceText) -> str:
    """The same as long as nothing has to be made anew."""
    content = f"{VERSION}\0{source.text}".encode(errors="replace")
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def index(source: SourceText, digest: str) -> Indexed:
    language = languages.language_of(source.path, source.text)
    cut = chunking.cut(source.text, language)
    parts = [_part(source.path, chunk) for chunk in cut.chunks]
    return Indexed(source, digest, language, known_as(cut.symbols), search.cut_parts(parts))


def known_as(symbols: Sequence[str]) -> list[str]:
    """Each by its full name and by its last part."""
    names = (name for symbol in symbols for name in (symbol, last_part(symbol)))
    return list(dict.fromkeys(names))


def last_part(symbol: str) -> str:
    return _QUALIFIED.split(symbol)[-1]


def _part(path: str, chunk: Chunk) -> search.Part:
    """Without credentials, of which code has some that no rule for names keeps out."""
    text = redaction.redact(chunk.text).text
    return search.Part(headline_of(path, chunk.symbols), text, chunk.first_line)


def headline_of(path: str, symbols: Sequence[str]) -> str:
    """Short enough to stand before each passage."""
    named = ", ".join(symbols)
    if len(named) > LONGEST_SYMBOLS:
        named = named[:LONGEST_SYMBOLS].rpartition(", ")[0] or named[:LONGEST_SYMBOLS]
    return f"{path[-LONGEST_PATH:]}\n{named}".strip()


def symbols_in(headline: str) -> list[str]:
    return [name for name in headline.partition("\n")[2].split(", ") if name]

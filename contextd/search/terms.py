"""The words that a text is found by, and their weights (BM25)."""

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

from snowballstemmer.english_stemmer import EnglishStemmer

from contextd.search.models import TERM_SPACE

VERSION = 1
"""Increase it when the words of a text change: `reembed --repair` then rebuilds all."""

SATURATION = 1.2
LENGTH_SHARE = 0.75
USUAL_LENGTH = 60
"""Replaces the average length. Held constant, a weight depends on its passage alone; on four
evaluation sets that ranked as well as the true average, or better."""

MAX_SPLIT_CHARACTERS = 60
MAX_REPEATS = 3

_STOP_WORDS = """
a an and are as at be but by can do does for from had has have how i if in into is it its my no not
of on or our so than that the their then there they this to was we were what when which will with
you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

# Thai, Lao, Myanmar, Khmer, kana, Han, Hangul: scripts without word boundaries.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff"
    r"\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_DIACRITICS = re.compile("[\u0300-\u036f]")
_ASCII_WORD = re.compile(r"[A-Za-z_]\w*|\d+", re.ASCII)
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


def terms(text: str) -> list[str]:
    """Return words without endings; an identifier yields itself and its parts."""
    return [term for word in _words(text) for term in _terms_of(word)]


def _words(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_WORD.findall(text)
    plain = _DIACRITICS.sub("", unicodedata.normalize("NFKD", text))
    spaced = _UNSPACED_RUN.sub(r" \g<0> ", unicodedata.normalize("NFC", plain))
    return _any_word().findall(spaced)


@lru_cache
def _any_word() -> re.Pattern[str]:
    marks = "".join(c for c in map(chr, range(0x370, 0x11FFF)) if unicodedata.category(c)[0] == "M")
    return re.compile(rf"[^\W\d][\w{marks}]*|\d+")


@lru_cache(maxsize=50_000)
def _terms_of(word: str) -> tuple[str, ...]:
    if _UNSPACED_RUN.match(word):
        return (*word, *map("".join, pairwise(word)))
    whole = word.casefold()
    parts = _parts(word, whole)
    if len(parts) > 1:
        return (whole, *(_stem(part) for part in parts if len(part) > 1 and part not in STOP_WORDS))
    return () if whole in STOP_WORDS else (_stem(whole),)


def _parts(word: str, whole: str) -> list[str]:
    if len(word) > MAX_SPLIT_CHARACTERS:  # a hash or packed data, not a name
        return [whole]
    if not word.isascii():
        return whole.split("_")
    return [part.lower() for part in _PART.findall(word)]


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    """Return the English stem; words of other languages in ASCII letters are treated alike."""
    if not word.isascii():
        return word
    stemmed: str = EnglishStemmer().stemWord(word)  # a new one, since it has state
    return stemmed


def weights(counts: Mapping[str, int]) -> dict[str, float]:
    """Return the weight of each word of a passage by its frequency; at most 2.2."""
    length = sum(counts.values())
    norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length / USUAL_LENGTH)
    return {
        term: round(count * (SATURATION + 1) / (count + norm), 4) for term, count in counts.items()
    }


def query_weights(query: str) -> dict[str, float]:
    """Return the weight of each word of the query, before its rarity."""
    counts = Counter(terms(query))
    return {term: 1 + math.log(min(count, MAX_REPEATS)) for term, count in counts.items()}


def rarity(passages: int, containing: int) -> float:
    """Return the idf of a word that `containing` of the passages contain."""
    return math.log(1 + (passages - containing + 0.5) / (containing + 0.5))


@lru_cache(maxsize=100_000)
def number(domain: str, term: str) -> int:
    """Return the number of a word; two words collide with a chance of one in a billion."""
    digest = hashlib.blake2b(f"{domain}\0{term}".encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest) % TERM_SPACE

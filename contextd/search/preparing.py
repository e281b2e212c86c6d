"""Prepares a text for storage: passages, words and vectors."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from contextd import limits
from contextd.search import embedding, passages, terms
from contextd.search.embedding import EmbeddingUnavailable, Vector
from contextd.search.passages import CutText

EMBEDDING_SECONDS = 20
NOT_EMBEDDED = "The embedding backend does not answer: found by its words now, by meaning later."

logger = logging.getLogger(__name__)
_is_later: ContextVar[bool] = ContextVar("is_later", default=False)


@contextmanager
def embedding_later() -> Iterator[None]:
    """Let `prepare` only cut within the block, for many records; a worker embeds them soon."""
    token = _is_later.set(True)
    try:
        yield
    finally:
        _is_later.reset(token)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a longer text with its own headline; lines are counted from 1."""

    headline: str
    text: str
    first_line: int = 1


@dataclass(frozen=True, slots=True)
class PreparedPassage:
    headline: str
    text: str
    first_line: int
    last_line: int
    content_hash: str
    counts: Mapping[str, int]
    vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """The search data of a record, ready to be stored; `space` is None until it is embedded."""

    passages: Sequence[PreparedPassage]
    token_count: int
    space: str | None = None

    @property
    def embedded(self) -> bool:
        return all(passage.vector is not None for passage in self.passages)

    @property
    def notice(self) -> str | None:
        """The remark for callers that save a record that is not embedded yet."""
        return None if self.embedded else NOT_EMBEDDED


def cut(headline: str, body: str = "") -> Prepared:
    """Cut a text: found by words at once, by meaning when a worker has embedded it.

    `token_count` is that of all-MiniLM-L6-v2's tokenizer, whatever model embeds.
    """
    return cut_parts([Part(headline, body)])


def cut_parts(parts: Iterable[Part]) -> Prepared:
    """Cut parts as `cut` does; no passage contains text of two parts."""
    made: list[PreparedPassage] = []
    tokens = 0
    for part in parts:
        text = passages.cut(part.headline, part.text)
        made += _passages_of(text, part.first_line - 1)
        tokens += text.token_count
    return Prepared(made, tokens)


def prepare(headline: str, body: str = "") -> Prepared:
    """Cut, and embed if the backend answers in time. Call it outside of transactions."""
    return prepare_many([(headline, body)])[0]


def prepare_many(texts: Sequence[tuple[str, str]]) -> list[Prepared]:
    """Prepare pairs of headline and body, embedded together: all of them or none.

    Equal texts are embedded once.
    """
    texts_cut = [cut(headline, body) for headline, body in texts]
    if _is_later.get():
        return texts_cut
    meanings = list(dict.fromkeys(m for text in texts_cut for m in meanings_of(text)))
    if not meanings:
        return texts_cut
    try:
        timeout = min(EMBEDDING_SECONDS, limits.time_left())
        embedded = embedding.embed(meanings, timeout)
    except EmbeddingUnavailable as error:
        logger.warning("%d passages wait to be embedded: %s", len(meanings), error)
        return texts_cut
    vectors = dict(zip(meanings, embedded.vectors, strict=True))
    return [_with_vectors(text, embedded.space, vectors) for text in texts_cut]


def meanings_of(text: Prepared) -> list[str]:
    """Return the texts to embed, one string per passage."""
    return [passages.under(passage.headline, passage.text) for passage in text.passages]


def _passages_of(text: CutText, lines_above: int) -> Iterator[PreparedPassage]:
    for passage in text.passages:
        content = passages.under(text.headline, passage.text)
        yield PreparedPassage(
            text.headline,
            passage.text,
            lines_above + passage.first_line,
            lines_above + passage.last_line,
            passages.hash_of(text.headline, passage.text),
            Counter(terms.terms(content)),
        )


def _with_vectors(text: Prepared, space: str, vectors: Mapping[str, Vector]) -> Prepared:
    embedded = [
        replace(passage, vector=vectors[meaning])
        for passage, meaning in zip(text.passages, meanings_of(text), strict=True)
    ]
    return replace(text, passages=embedded, space=space)

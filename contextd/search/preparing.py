"""All that is made of a text before it is stored: passages, words, vectors."""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from contextd import limits
from contextd.search import embedding, passages, terms
from contextd.search.embedding import EmbeddingUnavailable, Vector
from contextd.search.passages import CutText

EMBEDDING_SECONDS = 20

logger = logging.getLogger(__name__)


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
    """What a record is found by, ready to be stored; `space` is None while it is not embedded."""

    passages: Sequence[PreparedPassage]
    token_count: int
    space: str | None = None

    @property
    def embedded(self) -> bool:
        return all(passage.vector is not None for passage in self.passages)


def cut(headline: str, body: str = "") -> Prepared:
    """Found by its words at once, by its meaning when a worker comes to embed it.

    `token_count` is that of all-MiniLM-L6-v2's tokenizer, whatever model embeds.
    """
    return cut_together([(headline, body)])


def cut_together(texts: Sequence[tuple[str, str]]) -> Prepared:
    """`cut` for a record with several texts, each of which it is found by on its own."""
    texts_cut = [passages.cut(headline, body) for headline, body in texts]
    prepared = {p.content_hash: p for text in texts_cut for p in _passages_of(text)}
    return Prepared([*prepared.values()], sum(text.token_count for text in texts_cut))


def prepare(headline: str, body: str = "") -> Prepared:
    """As `cut`, and embedded where the backend answers in time; not in a transaction."""
    return prepare_many([(headline, body)])[0]


def prepare_many(texts: Sequence[tuple[str, str]]) -> list[Prepared]:
    """`prepare` for pairs of headline and body, embedded together: all of them or none.

    What is the same is embedded once.
    """
    texts_cut = [cut(headline, body) for headline, body in texts]
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
    """What is embedded, a string for each passage."""
    return [passages.under(passage.headline, passage.text) for passage in text.passages]


def _passages_of(text: CutText) -> Iterator[PreparedPassage]:
    for passage in text.passages:
        content = passages.under(text.headline, passage.text)
        yield PreparedPassage(
            text.headline,
            passage.text,
            passage.first_line,
            passage.last_line,
            passages.hash_of(text.headline, passage.text),
            Counter(terms.terms(content)),
        )


def _with_vectors(text: Prepared, space: str, vectors: Mapping[str, Vector]) -> Prepared:
    embedded = [
        replace(passage, vector=vectors[meaning])
        for passage, meaning in zip(text.passages, meanings_of(text), strict=True)
    ]
    return replace(text, passages=embedded, space=space)

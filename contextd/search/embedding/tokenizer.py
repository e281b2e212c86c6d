"""The WordPiece tokenizer of all-MiniLM-L6-v2, built from its vocabulary."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_TOKENS = 256
"""Maximum number of tokens that the model reads, including those that mark start and end."""

_VOCABULARY = Path(__file__).parent / "minilm" / "vocab.txt"
_START, _END, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"

Span = tuple[int, int]


def spans(text: str) -> list[Span]:
    """Return the position of each token in the text."""
    found: list[Span] = _tokenizer().encode(text, add_special_tokens=False).offsets
    return found


def count(text: str) -> int:
    """Return the number of tokens; other threads run meanwhile."""
    (encoding,) = _tokenizer().encode_batch_fast([text], add_special_tokens=False)
    return len(encoding)


def token_ids(texts: Sequence[str]) -> list[list[int]]:
    """Return the input of the model, each text cut to `MAX_TOKENS`."""
    start, end = _vocabulary()[_START], _vocabulary()[_END]
    encodings = _tokenizer().encode_batch_fast(list(texts), add_special_tokens=False)
    return [[start, *encoding.ids[: MAX_TOKENS - 2], end] for encoding in encodings]


@cache
def _tokenizer() -> "Tokenizer":
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    tokenizer = Tokenizer(WordPiece(_vocabulary(), unk_token=_UNKNOWN))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer


@cache
def _vocabulary() -> dict[str, int]:
    words = _VOCABULARY.read_text(encoding="utf-8").splitlines()
    return {word: number for number, word in enumerate(words)}

"""Measures text in tokens of all-MiniLM-L6-v2's tokenizer."""

from collections.abc import Sequence

from django.core.cache.backends.locmem import LocMemCache

from contextd.search.embedding import tokenizer
from contextd.search.models import Passage

SAMPLE = 200
COUNTED_CHARACTERS = 2_000
REMEMBERED_SECONDS = 60 * 60

_means = LocMemCache("search-tokens-of-a-passage", {"TIMEOUT": REMEMBERED_SECONDS})


def tokens_of(text: str) -> int:
    """Count tokens up to `COUNTED_CHARACTERS` characters; assume the same density for the rest.

    Counting takes 0.6 ms per thousand characters, and answers have tens of thousands.
    """
    counted = tokenizer.count(text[:COUNTED_CHARACTERS])
    return round(counted * max(1.0, len(text) / COUNTED_CHARACTERS))


def tokens_of_passages(collections: Sequence[int], passages: int) -> int:
    """Estimate how many tokens so many passages of these collections have together.

    This uses the mean of the newest ones, which is measured once an hour.
    """
    if not passages:
        return 0
    key = ",".join(map(str, sorted(collections)))
    mean: float | None = _means.get(key)
    if mean is None:
        mean = _mean_of_newest(collections)
        _means.set(key, mean)
    return round(passages * mean)


def _mean_of_newest(collections: Sequence[int]) -> float:
    newest = Passage.objects.filter(collection__in=collections).order_by("-pk")[:SAMPLE]
    counts = [tokens_of(passage.text or passage.headline) for passage in newest]
    return sum(counts) / len(counts) if counts else 0.0

"""Checks whether texts can be embedded: a part of `status`."""

from django.core.cache.backends.locmem import LocMemCache

from contextd.search import embedding
from contextd.search.embedding import EmbeddingUnavailable
from contextd.status import Unhealthy, health_check

PROBE_SECONDS = 5
REMEMBERED_SECONDS = 5

_probes = LocMemCache("search-probes", {"TIMEOUT": REMEMBERED_SECONDS})


@health_check("embedding", needs_database=False)
def probe_embedding() -> None:
    if problem := _probes.get_or_set("problem", _problem):
        raise Unhealthy(problem)


def _problem() -> str:
    try:
        embedding.embed(["ready"], PROBE_SECONDS)
    except EmbeddingUnavailable as error:
        return f"{error}; until then, new records are found by words only"
    return ""

"""The search engine that all knowledge shares: passages, found by their words and their meaning.

prepared = search.prepare(headline, body)  # cuts and embeds: no transaction is open
with limits.transaction():
    search.store("checkpoint", checkpoint.pk, project.pk, prepared)
found = search.find("why did the deploy fail", domain="checkpoint", projects=None, limit=5)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from contextd.search.registry import Domain as Domain
from contextd.search.registry import HistoryEntry as HistoryEntry
from contextd.search.registry import domain_named as domain_named
from contextd.search.registry import domains as domains
from contextd.search.registry import register as register
from contextd.search.registry import register_records as register_records

if TYPE_CHECKING:
    from contextd.search.backlog import embed_pending as embed_pending
    from contextd.search.backlog import embed_soon as embed_soon
    from contextd.search.embedding import is_warm as is_warm
    from contextd.search.embedding import warm_up as warm_up
    from contextd.search.excerpts import Piece as Piece
    from contextd.search.excerpts import excerpt as excerpt
    from contextd.search.excerpts import marked as marked
    from contextd.search.finding import EmbeddingCoverage as EmbeddingCoverage
    from contextd.search.finding import Found as Found
    from contextd.search.finding import Hit as Hit
    from contextd.search.finding import coverage as coverage
    from contextd.search.finding import find as find
    from contextd.search.finding import find_passages as find_passages
    from contextd.search.finding import passages_of as passages_of
    from contextd.search.finding import texts as texts
    from contextd.search.passages import HEADLINE_TOKENS as HEADLINE_TOKENS
    from contextd.search.preparing import Part as Part
    from contextd.search.preparing import Prepared as Prepared
    from contextd.search.preparing import cut as cut
    from contextd.search.preparing import cut_parts as cut_parts
    from contextd.search.preparing import embedding_later as embedding_later
    from contextd.search.preparing import prepare as prepare
    from contextd.search.preparing import prepare_many as prepare_many
    from contextd.search.ranking import Weights as Weights
    from contextd.search.results import NOISE as NOISE
    from contextd.search.results import find_existing as find_existing
    from contextd.search.results import relevant as relevant
    from contextd.search.results import with_records as with_records
    from contextd.search.storing import forget as forget
    from contextd.search.storing import merge_projects as merge_projects
    from contextd.search.storing import store as store
    from contextd.search.storing import store_many as store_many
    from contextd.search.storing import storing_together as storing_together
    from contextd.search.weighing import tokens_of as tokens_of
    from contextd.search.weighing import tokens_of_passages as tokens_of_passages

_HOMES = {
    "backlog": ["embed_pending", "embed_soon"],
    "embedding": ["is_warm", "warm_up"],
    "excerpts": ["Piece", "excerpt", "marked"],
    "finding": [
        *(
            "EmbeddingCoverage",
            "Found",
            "Hit",
            "coverage",
            "find",
            "find_passages",
            "passages_of",
            "texts",
        ),
    ],
    "passages": ["HEADLINE_TOKENS"],
    "preparing": [
        *("Part", "Prepared", "cut", "cut_parts", "embedding_later", "prepare", "prepare_many"),
    ],
    "ranking": ["Weights"],
    "results": ["NOISE", "find_existing", "relevant", "with_records"],
    "storing": ["forget", "merge_projects", "store", "store_many", "storing_together"],
    "weighing": ["tokens_of", "tokens_of_passages"],
}


def __getattr__(name: str) -> Any:
    """Import on first use: Django imports this package before models can be loaded."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"contextd.search.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

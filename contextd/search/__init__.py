"""The search engine that all knowledge shares: passages, found by their words and their meaning.

prepared = search.prepare(headline, body)  # cuts and embeds: no transaction is open
with limits.transaction():
    search.store("checkpoint", checkpoint.pk, project.pk, prepared)
found = search.find("why did the deploy fail", domain="checkpoint", projects=None, limit=5)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from contextd.search.registry import (
    Domain,
    Happening,
    domain_named,
    domains,
    register,
    register_records,
)

if TYPE_CHECKING:
    from contextd.search.backlog import embed_pending, embed_soon
    from contextd.search.embedding import is_warm, warm_up
    from contextd.search.excerpts import Piece, excerpt, marked
    from contextd.search.finding import (
        Coverage,
        Found,
        Hit,
        coverage,
        find,
        find_passages,
        passages_of,
        texts,
    )
    from contextd.search.passages import HEADLINE_TOKENS
    from contextd.search.preparing import (
        Part,
        Prepared,
        cut,
        cut_parts,
        embedding_later,
        prepare,
        prepare_many,
    )
    from contextd.search.ranking import Weights
    from contextd.search.results import NOISE, relevant, with_records
    from contextd.search.storing import forget, merge_projects, store, store_many
    from contextd.search.weighing import tokens_of, tokens_of_passages

__all__ = [
    "HEADLINE_TOKENS",
    "NOISE",
    "Coverage",
    "Domain",
    "Found",
    "Happening",
    "Hit",
    "Part",
    "Piece",
    "Prepared",
    "Weights",
    "coverage",
    "cut",
    "cut_parts",
    "domain_named",
    "domains",
    "embed_pending",
    "embed_soon",
    "embedding_later",
    "excerpt",
    "find",
    "find_passages",
    "forget",
    "is_warm",
    "marked",
    "merge_projects",
    "passages_of",
    "prepare",
    "prepare_many",
    "register",
    "register_records",
    "relevant",
    "store",
    "store_many",
    "texts",
    "tokens_of",
    "tokens_of_passages",
    "warm_up",
    "with_records",
]

_HOMES = {
    "backlog": ["embed_pending", "embed_soon"],
    "embedding": ["is_warm", "warm_up"],
    "excerpts": ["Piece", "excerpt", "marked"],
    "finding": [
        *("Coverage", "Found", "Hit", "coverage", "find", "find_passages", "passages_of", "texts"),
    ],
    "passages": ["HEADLINE_TOKENS"],
    "preparing": [
        *("Part", "Prepared", "cut", "cut_parts", "embedding_later", "prepare", "prepare_many"),
    ],
    "ranking": ["Weights"],
    "results": ["NOISE", "relevant", "with_records"],
    "storing": ["forget", "merge_projects", "store", "store_many"],
    "weighing": ["tokens_of", "tokens_of_passages"],
}


def __getattr__(name: str) -> Any:
    """Import on first use: Django imports this package before models can be loaded."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"contextd.search.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

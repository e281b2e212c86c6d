"""The scope of a search: which collections, and which of their records."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.models import QuerySet

from contextd import limits

Parameters = tuple[Any, ...]

SIZES = """
WITH looked AS (
    SELECT id, passages FROM search_collection
    WHERE domain = %(domain)s AND passages > 0 AND CASE
        WHEN project_id IS NULL THEN %(shared)s
        ELSE %(projects)s::bigint[] IS NULL OR project_id = ANY(%(projects)s)
    END
), covered AS (
    SELECT collection_id, passages FROM search_coverage WHERE space_id = %(space)s
), counted AS (
    SELECT term, sum(passages)::bigint AS number FROM search_termcount
    WHERE term = ANY(%(words)s) AND collection_id IN (SELECT id FROM looked)
    GROUP BY term
)
SELECT ARRAY(SELECT id FROM looked),
    coalesce((SELECT sum(passages) FROM looked), 0)::bigint,
    coalesce((SELECT sum(passages) FROM covered WHERE collection_id IN (SELECT id FROM looked)), 0)
        ::bigint,
    coalesce((SELECT sum(passages) FROM covered), 0)::bigint,
    ARRAY(SELECT ARRAY[term, number] FROM counted)
"""


@dataclass(frozen=True, slots=True)
class Scope:
    """Collections of one domain, and a condition on `record_id` as SQL, empty for all.

    `covered` of the passages have a vector in `space`, which has `indexed` in total. `containing`
    counts the passages with each word of the query that occurs in the scope.
    """

    domain: str
    space: str | None
    collections: list[int]
    passages: int
    covered: int
    indexed: int
    records: tuple[str, Parameters]
    containing: dict[int, int] = field(default_factory=dict)


def look_in(
    domain: str,
    projects: frozenset[int] | None,
    *,
    shared: bool,
    records: QuerySet[Any] | None,
    space: str | None,
    words: Iterable[int] = (),
) -> Scope:
    """Return the scope.

    `projects` is None for all of them; `shared` adds records without a project; `words` are given
    by number. The scope has no collection if the condition on records can never be met.
    """
    try:
        condition = _condition(records)
    except EmptyResultSet:
        return Scope(domain, space, [], passages=0, covered=0, indexed=0, records=("", ()))
    parameters = {
        "domain": domain,
        "space": space,
        "shared": shared,
        "projects": None if projects is None else list(projects),
        "words": list(words),
    }
    ((collections, passages, covered, indexed, counted),) = limits.rows(SIZES, parameters)
    return Scope(domain, space, collections, passages, covered, indexed, condition, dict(counted))


def _condition(records: QuerySet[Any] | None) -> tuple[str, Parameters]:
    if records is None:
        return "", ()
    statement, parameters = records.order_by().values("pk").query.sql_with_params()
    return f"AND record_id IN ({statement})", parameters

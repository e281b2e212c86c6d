"""Where a search looks: which collections, and which of their records."""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.models import QuerySet

from contextd import limits

Parameters = tuple[Any, ...]

SIZES = """
SELECT coalesce(array_agg(collection.id), '{}'),
    coalesce(sum(collection.passages), 0)::bigint,
    coalesce(sum(covered.passages), 0)::bigint,
    (SELECT coalesce(sum(passages), 0)::bigint FROM search_coverage WHERE space_id = %(space)s)
FROM search_collection AS collection
LEFT JOIN search_coverage AS covered
    ON covered.collection_id = collection.id AND covered.space_id = %(space)s
WHERE domain = %(domain)s AND collection.passages > 0 AND CASE
    WHEN project_id IS NULL THEN %(shared)s
    ELSE %(projects)s::bigint[] IS NULL OR project_id = ANY(%(projects)s)
END
"""


@dataclass(frozen=True, slots=True)
class Scope:
    """Collections of one domain, and a condition on `record_id` as SQL, empty for all.

    `covered` of the passages have a vector in `space`, in which there are `indexed` altogether.
    """

    domain: str
    space: str | None
    collections: list[int]
    passages: int
    covered: int
    indexed: int
    records: tuple[str, Parameters]


def look_in(
    domain: str,
    projects: frozenset[int] | None,
    *,
    shared: bool,
    records: QuerySet[Any] | None,
    space: str | None,
) -> Scope:
    """`projects` is None for all of them; `shared` adds what belongs to none.

    No collection is in it when the condition on records can never be met.
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
    }
    ((collections, passages, covered, indexed),) = limits.rows(SIZES, parameters)
    return Scope(domain, space, collections, passages, covered, indexed, condition)


def _condition(records: QuerySet[Any] | None) -> tuple[str, Parameters]:
    if records is None:
        return "", ()
    statement, parameters = records.order_by().values("pk").query.sql_with_params()
    return f"AND record_id IN ({statement})", parameters

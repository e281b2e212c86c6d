"""Where a search looks: which collections, and which of their records."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet, Sum

from contextd.search.models import Collection, Coverage

Records = QuerySet[Any]


@dataclass(frozen=True, slots=True)
class Scope:
    """Collections of one domain; `covered` of their passages have a vector in `space`."""

    domain: str
    space: str | None
    collections: list[int]
    records: Records | None
    passages: int
    covered: int


def look_in(
    domain: str,
    projects: frozenset[int] | None,
    *,
    shared: bool,
    records: Records | None,
    space: str | None,
) -> Scope:
    """`projects` is None for all of them; `shared` adds what belongs to none."""
    found = Collection.objects.filter(_of(projects, shared), domain=domain, passages__gt=0)
    sizes = dict(found.values_list("pk", "passages"))
    covered = Coverage.objects.filter(space=space, collection__in=sizes)
    return Scope(
        domain=domain,
        space=space,
        collections=list(sizes),
        records=None if records is None else records.order_by().values("pk"),
        passages=sum(sizes.values()),
        covered=covered.aggregate(total=Sum("passages", default=0))["total"],
    )


def _of(projects: frozenset[int] | None, shared: bool) -> Q:
    of_projects = Q(project__isnull=False) if projects is None else Q(project__in=projects)
    return of_projects | Q(project__isnull=True) if shared else of_projects

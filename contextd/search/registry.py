"""What can be searched: each app registers its kind of record."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from contextd.callers import Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """A kind of record: `title` is its plural, `url_of` where a record of that id is shown."""

    name: str
    title: str
    visible_to: Callable[[Caller], QuerySet[Any]]
    url_of: Callable[[int], str]


_registry: dict[str, Domain] = {}


def register(domain: Domain) -> None:
    if _registry.setdefault(domain.name, domain) != domain:
        raise RuntimeError(f"search domain {domain.name!r} is registered twice")


def domains() -> list[Domain]:
    return sorted(_registry.values(), key=lambda domain: domain.title)

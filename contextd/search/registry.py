"""What can be searched: each app registers its kind of record."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse

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


def register_records(name: str, title: str, model: Any) -> None:
    """The records of a model: its manager knows which are `visible_to` a caller, the admin shows
    them.
    """
    page = f"admin:{model._meta.app_label}_{model._meta.model_name}_change"
    register(
        Domain(
            name=name,
            title=title,
            visible_to=model.objects.visible_to,
            url_of=lambda pk: reverse(page, args=[pk]),
        )
    )


def domains() -> list[Domain]:
    return sorted(_registry.values(), key=lambda domain: domain.title)

"""The registry of searchable records: each app registers its kind."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import ForeignKey, Model, QuerySet
from django.urls import reverse

from contextd import guards, operations
from contextd.callers import Caller

History = Callable[[Caller, Any], "Iterable[HistoryEntry]"]
Existing = Callable[[Sequence[int]], Collection[int]]


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """Something done to a record; `who` is a principal, or a person's name."""

    at: datetime
    who: str
    what: str
    note: str = ""


def nothing_else(caller: Caller, record: Any) -> Iterable[HistoryEntry]:
    return ()


def all_of_them(record_ids: Sequence[int]) -> Collection[int]:
    return record_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """A kind of record: `title` is its plural, `url_of` the address where an id is edited.

    `fields` are the names of the fields and properties that people read, the most important first;
    `history` is what happened to a record besides edits in the admin. `use_is_known` if calls state
    which record they are about; records of other kinds are read elsewhere. `found_by` is the
    operation that searches them. `existing` selects the records whose source, such as a file,
    still exists: people see no others.
    """

    name: str
    title: str
    visible_to: Callable[[Caller], QuerySet[Any]]
    url_of: Callable[[int], str]
    fields: Sequence[str] = ()
    history: History = nothing_else
    found_by: str = ""
    use_is_known: bool = True
    existing: Existing = all_of_them

    def shown_to(self, caller: Caller) -> QuerySet[Any]:
        """Return `visible_to`, with the records that the fields lead to."""
        records = self.visible_to(caller)
        return records.select_related(*self.relations(records.model))

    def relations(self, model: type[Model]) -> list[str]:
        keys = {field.name for field in model._meta.fields if isinstance(field, ForeignKey)}
        return [name for name in self.fields if name in keys]


_registry: dict[str, Domain] = {}


def register(domain: Domain) -> None:
    if _registry.setdefault(domain.name, domain) != domain:
        raise RuntimeError(f"search domain {domain.name!r} is registered twice")


def register_records(
    name: str,
    title: str,
    model: Any,
    *,
    found_by: str,
    fields: Sequence[str],
    history: History = nothing_else,
    use_is_known: bool = True,
    existing: Existing = all_of_them,
) -> None:
    """Register the records of a model.

    Its manager defines which are `visible_to` a caller, the admin edits them, and callers who may
    not call the operation `found_by` see none.
    """

    def visible_to(caller: Caller) -> QuerySet[Any]:
        may_find = guards.may_use(operations.get(found_by), caller)
        visible: QuerySet[Any] = model.objects.visible_to(caller)
        return visible if may_find else visible.none()

    page = f"admin:{model._meta.app_label}_{model._meta.model_name}_change"
    register(
        Domain(
            name=name,
            title=title,
            visible_to=visible_to,
            url_of=lambda pk: reverse(page, args=[pk]),
            fields=fields,
            history=history,
            found_by=found_by,
            use_is_known=use_is_known,
            existing=existing,
        )
    )


def domains() -> list[Domain]:
    return sorted(_registry.values(), key=lambda domain: domain.title)


def existing(domain: str, record_ids: Sequence[int]) -> Collection[int]:
    """Return the ids of records of a registered domain whose source still exists."""
    return _registry[domain].existing(record_ids)


def domain_named(name: str) -> Domain | None:
    return _registry.get(name)

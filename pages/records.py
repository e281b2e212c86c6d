"""Collect what a record's page shows."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model

from analytics import calls
from contextd import search
from contextd.callers import Caller
from contextd.errors import NotFound
from contextd.search import Domain, HistoryEntry
from contextd.search.models import Passage
from contextd.validation import parse_digits
from pages import searching, showing
from pages.searching import Group
from pages.showing import Part

MAX_CHANGES = 50
MAX_PASSAGES = 50
COMPARED = 400
"""Characters of a record's text that are compared with other records."""


@dataclass(frozen=True, slots=True)
class RecordPage:
    domain: Domain
    kind: str
    pk: int
    title: str
    parts: list[Part]
    passages: list[Passage]
    has_more_passages: bool
    history: list[HistoryEntry]
    use: calls.Use | None
    model: type[Model]
    admin_url: str


def page(caller: Caller, kind: str, pk: int) -> RecordPage:
    """Return the page. Raises NotFound even if the caller may just not see the record."""
    domain, record = record_of(caller, kind, pk)
    passages = search.passages_of(domain.name, pk, MAX_PASSAGES + 1)
    return RecordPage(
        domain=domain,
        kind=str(record._meta.verbose_name),
        pk=pk,
        title=str(record),
        parts=showing.parts_of(record, list(domain.fields)),
        passages=passages[:MAX_PASSAGES],
        has_more_passages=len(passages) > MAX_PASSAGES,
        history=history_of(caller, domain, record),
        use=calls.use_of(caller, domain.name, pk) if domain.use_is_known else None,
        model=type(record),
        admin_url=domain.url_of(pk),
    )


def record_of(caller: Caller, kind: str, pk: int) -> tuple[Domain, Any]:
    domain = search.domain_named(kind)
    if domain is None:
        kinds = ", ".join(one.name for one in search.domains())
        raise NotFound(f"there is no kind of record named {kind!r}; there are: {kinds}")
    record = domain.shown_to(caller).filter(pk=pk).first()
    if record is None or pk not in domain.existing([pk]):
        raise NotFound(f"there is no {kind} {pk} among those you may see")
    return domain, record


def history_of(caller: Caller, domain: Domain, record: Any) -> list[HistoryEntry]:
    """Return what happened to it, newest first, with user names where known."""
    all_there_is = [*edits_of(record), *domain.history(caller, record), *beginning_of(record)]
    newest = sorted(all_there_is, key=lambda one: one.at, reverse=True)
    return named(newest[:MAX_CHANGES])


def edits_of(record: Any) -> Iterable[HistoryEntry]:
    """Return the edits by people in the admin."""
    kind = ContentType.objects.get_for_model(record)
    edits = LogEntry.objects.filter(content_type=kind, object_id=str(record.pk))
    for edit in edits.select_related("user").order_by("-action_time")[:MAX_CHANGES]:
        yield HistoryEntry(
            edit.action_time,
            edit.user.get_username(),
            edit.get_action_flag_display(),
            edit.get_change_message(),
        )


def beginning_of(record: Any) -> Iterable[HistoryEntry]:
    if hasattr(record, "created_at"):
        yield HistoryEntry(record.created_at, getattr(record, "created_by", ""), "Created")


def named(happenings: list[HistoryEntry]) -> list[HistoryEntry]:
    """Replace principals such as `user:3` by user names."""
    keys = {one.who.removeprefix("user:") for one in happenings if one.who.startswith("user:")}
    users = get_user_model().objects.in_bulk(list(filter(None, map(parse_digits, keys))))
    names = {f"user:{pk}": user.get_username() for pk, user in users.items()}
    return [
        HistoryEntry(one.at, names.get(one.who, one.who), one.what, one.note) for one in happenings
    ]


def related(caller: Caller, kind: str, pk: int) -> list[Group]:
    """Return similar records of all kinds, nearest first."""
    domain, record = record_of(caller, kind, pk)
    return searching.like(caller, about(domain, record), domain.name, pk)


def about(domain: Domain, record: Any) -> str:
    passages = search.passages_of(domain.name, record.pk, 1)
    text = "\n".join(f"{one.headline}\n{one.text}" for one in passages)
    return (text or str(record))[:COMPARED]

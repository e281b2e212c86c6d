"""Facts that a running call notes about itself, for receivers of `operation_finished`."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple


class Searched(NamedTuple):
    """A search: its query, the collections searched and their number of passages."""

    domain: str
    query: str
    collections: list[int]
    passages: int


class Used(NamedTuple):
    """The record that the call used, with the name of its model."""

    domain: str
    record_id: int


class Answered(NamedTuple):
    """The records that a search returned, if they are not the first list of its result."""

    domain: str
    record_ids: list[int]


@dataclass(slots=True)
class Notes:
    """Notes of one call.

    `looked_up` has the queries that needed a vector, and whether it was in the cache. `helped` is
    False when the caller rated the used record as no help.
    """

    project_id: int | None = None
    searches: list[Searched] = field(default_factory=list)
    looked_up: dict[str, bool] = field(default_factory=dict)
    answered: Answered | None = None
    used: Used | None = None
    helped: bool = True


_current: ContextVar[Notes | None] = ContextVar("notes", default=None)


@contextmanager
def kept_in(notes: Notes) -> Iterator[None]:
    """Keep what the block notes in `notes`; outside of such a block, notes are dropped."""
    token = _current.set(notes)
    try:
        yield
    finally:
        _current.reset(token)


def about_project(project_id: int) -> None:
    """Note the project that the call concerns, one of those its caller may see."""
    if notes := _current.get():
        notes.project_id = project_id


def searched(domain: str, query: str, collections: list[int], passages: int) -> None:
    if notes := _current.get():
        notes.searches.append(Searched(domain, query, collections, passages))


def looked_up(query: str, *, cached: bool) -> None:
    """Note a query that needed a vector; a repeated query counts once per call."""
    if notes := _current.get():
        notes.looked_up.setdefault(query, cached)


def answered(domain: str, record_ids: list[int]) -> None:
    if notes := _current.get():
        notes.answered = Answered(domain, record_ids)


def used(domain: str, record_id: int, project_id: int | None) -> None:
    if notes := _current.get():
        notes.used = Used(domain, record_id)
        notes.project_id = notes.project_id or project_id


def rated(*, helped: bool) -> None:
    """Note whether the used record helped."""
    if notes := _current.get():
        notes.helped = helped

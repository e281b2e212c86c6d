"""What a running call notes about itself, for those who listen to `operation_finished`."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple


class Searched(NamedTuple):
    """A search: for what, in which collections, and how many passages these hold."""

    domain: str
    query: str
    collections: list[int]
    passages: int


class Used(NamedTuple):
    """A record that the call was about, by the name of its model."""

    domain: str
    record_id: int


class Answered(NamedTuple):
    """The records that a search came to, where they are not the first list of its result."""

    domain: str
    record_ids: list[int]


@dataclass(slots=True)
class Notes:
    """`looked_up` are the queries that had to become vectors, and whether theirs was remembered.

    `helped` is False where the caller said that the record used was of no help.
    """

    project_id: int | None = None
    searches: list[Searched] = field(default_factory=list)
    looked_up: dict[str, bool] = field(default_factory=dict)
    answered: Answered | None = None
    used: Used | None = None
    helped: bool = True


_taken: ContextVar[Notes | None] = ContextVar("notes", default=None)


@contextmanager
def taken_in(notes: Notes) -> Iterator[None]:
    """What the block notes is kept there; outside of such a block nothing is."""
    token = _taken.set(notes)
    try:
        yield
    finally:
        _taken.reset(token)


def about_project(project_id: int) -> None:
    if notes := _taken.get():
        notes.project_id = project_id


def searched(domain: str, query: str, collections: list[int], passages: int) -> None:
    if notes := _taken.get():
        notes.searches.append(Searched(domain, query, collections, passages))


def looked_up(query: str, *, cached: bool) -> None:
    """The same query of one call counts once."""
    if notes := _taken.get():
        notes.looked_up.setdefault(query, cached)


def answered(domain: str, record_ids: list[int]) -> None:
    if notes := _taken.get():
        notes.answered = Answered(domain, record_ids)


def used(domain: str, record_id: int, project_id: int | None) -> None:
    if notes := _taken.get():
        notes.used = Used(domain, record_id)
        notes.project_id = notes.project_id or project_id


def rated(*, helped: bool) -> None:
    """Of the record that is used."""
    if notes := _taken.get():
        notes.helped = helped

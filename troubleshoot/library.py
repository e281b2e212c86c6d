"""The patterns that ship with contextd, and the texts by which a pattern is found."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from contextd import changes
from contextd.shipped import Library, Reading, Record
from remediations import reading
from troubleshoot import knowledge
from troubleshoot.knowledge import Entry
from troubleshoot.models import Pattern

DOMAIN = "pattern"


def read() -> Reading:
    found = knowledge.read()
    records = [Record(one.entry.id, values_of(one.entry)) for one in found.patterns]
    return Reading(records, found.complaints)


def values_of(entry: Entry) -> dict[str, Any]:
    return entry.model_dump(mode="json", exclude={"id"})


def address_of(key: str) -> str:
    return f"{DOMAIN}://{key}"


def announce(keys: Iterable[str]) -> None:
    """Notify clients that these patterns, and so the list, have changed."""
    changes.announce("resources")
    for key in keys:
        changes.announce("resources", address_of(key))


def is_published(pattern: Pattern) -> bool:
    return not pattern.is_draft


def text_of(pattern: Pattern) -> tuple[str, str]:
    """Return its title and subject; its examples are searched separately."""
    about = ", ".join([*pattern.technologies, *pattern.tags, pattern.category])
    return pattern.title, f"{pattern.cause}\n{about}"


def examples_of(pattern: Pattern) -> list[tuple[str, str]]:
    """Return its errors, parsed like those of callers."""
    readings = [reading.read(error, "") for error in pattern.errors]
    return [(read.headline, read.details) for read in readings]


LIBRARY = Library(
    name="patterns",
    domain=DOMAIN,
    folder=Path(__file__).parent,
    model=Pattern,
    read=read,
    text_of=text_of,
    examples_of=examples_of,
    is_searched=is_published,
    announce=announce,
)

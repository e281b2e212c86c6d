"""Records that ship as YAML files: loaded into rows at each start, beside people's edits.

An app registers a `Library`; its model is a `ShippedRecord`. An unedited row follows its file: it
is added, updated and retired with it. An edited row keeps the person's text, and `offered` holds
the newer shipped text until it is accepted in the admin. A record that people wrote is never
replaced by a shipped one that has its key.
"""

import difflib
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet

from contextd import changes, search, yaml_files
from contextd.models import LoadedLibrary, ShippedRecord
from contextd.yaml_files import Complaint

READ_SUFFIXES = {".py", ".yaml"}
KEPT_FIELDS = ["shipped", "offered", "is_retired"]
"""Fields that `keep` changes."""


@dataclass(frozen=True, slots=True)
class Record:
    """The `values` of the shipped fields, as JSON values."""

    key: str
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reading:
    """The records in the files, and the problems found in files that could not be used."""

    records: list[Record]
    complaints: list[Complaint]


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A kind of record that ships: `name` is its plural and its search domain is `domain`.

    Its content depends only on the files in its `folder`, including code. `text_of` returns the
    headline and the body of a row for the search, `examples_of` further texts, each of which is
    searched separately. `announce` notifies clients that the records of these keys have changed.
    """

    name: str
    domain: str
    folder: Path
    model: type[ShippedRecord]
    read: Callable[[], Reading]
    text_of: Callable[[Any], tuple[str, str]]
    examples_of: Callable[[Any], Sequence[tuple[str, str]]] = lambda row: ()
    is_searched: Callable[[Any], bool] = lambda row: True
    announce: Callable[[Iterable[str]], None] = lambda keys: changes.announce("resources")


@dataclass(slots=True)
class Loaded:
    """What changed, by the keys of the records; unchanged records are left out.

    `kept_out` are shipped records whose key a record written here has.
    """

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    offered: list[str] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)
    kept_out: list[str] = field(default_factory=list)
    complaints: list[Complaint] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{len(self.added)} added, {len(self.updated)} updated, {len(self.retired)} retired, "
            f"{len(self.offered)} not applied because they were edited, "
            f"{len(self.kept_out)} not loaded because records written here have their keys"
        )


_libraries: dict[str, Library] = {}


def register(library: Library) -> None:
    if _libraries.setdefault(library.name, library) != library:
        raise RuntimeError(f"the library {library.name!r} is registered twice")


def libraries() -> list[Library]:
    return sorted(_libraries.values(), key=lambda library: library.name)


def load_changed(library: Library) -> Loaded:
    """Call `load` if the files or the number of rows have changed since the last load."""
    known = LoadedLibrary.objects.filter(name=library.name).values_list("fingerprint", flat=True)
    if known.first() == _fingerprint(library):
        return Loaded()
    loaded = load(library)
    if not loaded.complaints:
        fingerprint = {"fingerprint": _fingerprint(library)}
        LoadedLibrary.objects.update_or_create(fingerprint, name=library.name)
    return loaded


def _fingerprint(library: Library) -> str:
    shipped = library.model._default_manager.filter(shipped__isnull=False).count()
    digest = hashlib.sha256(f"{shipped} rows".encode())
    for path in sorted(library.folder.rglob("*")):
        if path.suffix in READ_SUFFIXES:
            digest.update(f"{path.relative_to(library.folder)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def load(library: Library) -> Loaded:
    """Update the rows from the files; several processes may do so concurrently.

    If a file is faulty, the others are loaded, and nothing is retired.
    """
    reading = library.read()
    with transaction.atomic():
        _wait_for_others(library)
        locked = library.model._default_manager.select_for_update().order_by("pk")
        rows = {row.key: row for row in locked}
        loaded = Loaded(complaints=reading.complaints)
        changed = _follow(library, rows, reading.records, loaded)
        shipped = {record.key for record in reading.records}
        if not reading.complaints:
            _retire(library, [row for row in rows.values() if row.key not in shipped], loaded)
        index(library, changed)
        if changed or loaded.retired:
            library.announce([*loaded.updated, *loaded.retired])
    return loaded


def take_offered(library: Library, rows: QuerySet[Any]) -> list[ShippedRecord]:
    """Replace people's edits with the newer shipped text; return the rows that had an offer."""
    updated = []
    with transaction.atomic():
        for row in rows.select_for_update():
            if row.offered is not None:
                row.take(row.offered)
                row.save()
                updated.append(row)
        index(library, updated)
    if updated:
        library.announce(row.key for row in updated)
    return updated


def keep(row: ShippedRecord) -> None:
    """Turn a record that no longer ships into the author's own, and show it if it was hidden."""
    row.shipped, row.offered, row.is_retired = None, None, False


def difference(row: ShippedRecord) -> str:
    """Return what accepting the offer would change, as a diff of the editable fields."""
    offered = row.offered or {}
    editable = [f.name for f in row._meta.concrete_fields if f.editable and f.name in offered]
    now = yaml_files.dump({name: getattr(row, name) for name in editable})
    then = yaml_files.dump({name: offered[name] for name in editable})
    lines = difflib.unified_diff(now.splitlines(), then.splitlines(), "here", "ships", lineterm="")
    return "\n".join(lines)


def index(library: Library, rows: Sequence[ShippedRecord]) -> None:
    """Index the rows: by words at once, by meaning when a worker has embedded them.

    Forget those that are not searched.
    """
    searched = [row for row in rows if library.is_searched(row)]
    if searched:
        texts = {row.pk: search.cut_parts(_parts_of(library, row)) for row in searched}
        search.store_many(library.domain, None, texts)
    if hidden := [row.pk for row in rows if not library.is_searched(row)]:
        search.forget(library.domain, hidden)


def _parts_of(library: Library, row: ShippedRecord) -> list[search.Part]:
    texts = dict.fromkeys([library.text_of(row), *library.examples_of(row)])
    return [search.Part(headline, body) for headline, body in texts]


def _wait_for_others(library: Library) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"shipped {library.name}"]
        )


def _follow(
    library: Library, rows: dict[str, ShippedRecord], records: Sequence[Record], loaded: Loaded
) -> list[ShippedRecord]:
    """Return the rows whose text changed."""
    added = [_new(library, record) for record in records if record.key not in rows]
    library.model._default_manager.bulk_create(added)
    loaded.added = [row.key for row in added]
    updated = [
        rows[record.key]
        for record in records
        if record.key in rows and _update(rows[record.key], record, loaded)
    ]
    return [*added, *updated]


def _new(library: Library, record: Record) -> ShippedRecord:
    row = library.model(key=record.key)
    row.take(record.values)
    return row


def _update(row: ShippedRecord, record: Record, loaded: Loaded) -> bool:
    """Return whether the row was updated with the text of the file."""
    values = record.values
    if row.says(values) or not row.is_edited:
        if (row.shipped, row.offered, row.is_retired) == (values, None, False):
            return False
        row.take(values)
        row.save()
        loaded.updated.append(row.key)
        return True
    is_own = row.shipped is None
    offer = None if is_own or row.shipped == values else values
    if row.offered != offer:
        row.offered = offer
        row.save(update_fields=["offered"])
    if is_own:
        loaded.kept_out.append(row.key)
    elif offer is not None:
        loaded.offered.append(row.key)
    return False


def _retire(library: Library, rows: Sequence[ShippedRecord], loaded: Loaded) -> None:
    """Retire records that no longer ship; edited ones stay, as people's own."""
    retired = []
    for row in rows:
        if row.shipped is None or row.is_retired:
            continue
        if row.is_edited:
            keep(row)
        else:
            row.is_retired = True
            retired.append(row)
        row.save(update_fields=KEPT_FIELDS)
    loaded.retired = [row.key for row in retired]
    if retired:
        search.forget(library.domain, [row.pk for row in retired])

"""Import rows of a file: find the record of each, and write it."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from datetime import datetime
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from django.utils.dateparse import parse_datetime
from django.utils.html import escape
from import_export.instance_loaders import BaseInstanceLoader
from import_export.results import RowResult

from contextd import operations, pipeline, projects, redaction, search, validation
from contextd.admin.exporting import Rows
from contextd.admin.files import LINE, Row
from contextd.callers import Caller
from contextd.errors import ContextdError, Invalid

Problems = list[dict[str, Any]]
"""Each has a sentence as `error` and, if it concerns one, a `field`."""
SHOWN_LENGTH = 80
TAKE_CREDENTIALS_OUT = "Import anyway, with credentials removed"
FLAGS = {"true": True, "1": True, "false": False, "0": False, "": False}


class WritableRows(Rows):
    """Rows that can be imported."""

    class Meta:
        instance_loader_class = BaseInstanceLoader

    lists: ClassVar[Sequence[str]] = ()
    objects: ClassVar[Sequence[str]] = ()
    flags: ClassVar[Sequence[str]] = ()

    def __init__(self, caller: Caller, takes_credentials: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.caller = caller
        self.takes_credentials = takes_credentials
        self.redacted = 0

    def known(self, row: Row) -> Any:
        """Return the row's record; None for a new one."""
        raise NotImplementedError

    def write(self, record: Any, row: Row) -> Any:
        """Save the row and return the record. Raises ContextdError with every error."""
        raise NotImplementedError

    def before_import(self, dataset: Any, **options: Any) -> None:
        unknown = [name for name in dataset.headers if name not in {LINE, *self.fields}]
        if unknown:
            columns, there_are = ", ".join(map(repr, unknown)), ", ".join(self.fields)
            raise Invalid(f"unknown column {columns}; there are: {there_are}")

    def import_data_inner(self, *args: Any, **options: Any) -> Any:
        with search.embedding_later(), search.storing_together():
            return super().import_data_inner(*args, **options)

    def import_row(self, row: Row, instance_loader: Any, **options: Any) -> RowResult:
        outcome, redacted = RowResult(), self.redacted
        given = {name: row[name] for name in self.fields if row.get(name) is not None}
        values, problems = self.read(given)
        problems += self._import(values, outcome, unreadable=given.keys() - values.keys())
        outcome.diff = [shown(given.get(name)) for name in self.fields]
        outcome.redacted = self.redacted - redacted
        if problems:
            outcome.import_type = RowResult.IMPORT_TYPE_INVALID
            outcome.validation_error = complaint(problems, row[LINE])
        return outcome

    def read(self, row: Row) -> tuple[dict[str, Any], Problems]:
        """Return the values converted to their Python types, and why the others cannot be."""
        values: dict[str, Any] = {}
        problems: Problems = []
        for name, cell in row.items():
            with collecting(problems):
                values[name] = self.value_of(name, cell)
        return values, problems

    def value_of(self, name: str, cell: Any) -> Any:
        """Return the value of a cell, converted to its Python type."""
        value = cell
        if name in self.lists or name in self.objects:
            value = structured(name, cell, [] if name in self.lists else {})
        elif name in self.flags:
            value = flag(name, cell)
        validation.ensure_storable({name: value})
        return value

    def _import(self, row: Row, outcome: RowResult, unreadable: AbstractSet[str]) -> Problems:
        """Save the readable values and return every error; any error undoes the whole file."""
        problems: Problems = []
        with collecting(problems):
            record = self.known(row)
            if record is not None and not unreadable and self._says_so(record, row):
                outcome.import_type = RowResult.IMPORT_TYPE_SKIP
                return problems
            if not self.takes_credentials:
                problems += credentials_in({n: row[n] for n in self.columns if n in row})
            self._save(record, row, outcome)
        return [problem for problem in problems if problem.get("field") not in unreadable]

    def _save(self, record: Any, row: Row, outcome: RowResult) -> None:
        is_new = record is None
        outcome.import_type = RowResult.IMPORT_TYPE_NEW if is_new else RowResult.IMPORT_TYPE_UPDATE
        outcome.instance = self.write(record, row)
        outcome.add_instance_info(outcome.instance)

    def _says_so(self, record: Any, row: Row) -> bool:
        given = [name for name in self.columns if name in row]
        return all(_is_same(self.cell(record, name), row[name]) for name in given)


class RowsByOperation(WritableRows):
    """Imports each row by calling the save or the update operation.

    A row matches the record with its `id` only if the creation times are equal, so that a file
    from another contextd changes no unrelated record.
    """

    model: ClassVar[type[Model]]
    save_operation: ClassVar[str]
    update_operation: ClassVar[str]
    fixed: ClassVar[Sequence[str]] = ()
    """Columns that are only used for new records."""
    same_by: ClassVar[Sequence[str]]
    """Columns that identify a record across servers."""
    told_only: ClassVar[Sequence[str]] = ["id", "created_by", "created_at"]

    def known(self, row: Row) -> Any:
        return self._by_id(row) or self._alike(row)

    def _by_id(self, row: Row) -> Any:
        made_at = moment(row.get("created_at"))
        if not made_at or not str(row.get("id", "")).isdecimal():
            return None
        made_then = self.records().filter(created_at=made_at)
        return made_then.filter(pk=int(row["id"])).first()

    def _alike(self, row: Row) -> Any:
        if any(not isinstance(row.get(name), str) for name in self.same_by):
            return None
        return self.among(row).filter(self.same(row)).first()

    def same(self, row: Row) -> Q:
        return Q(**{name: row[name] for name in self.same_by})

    def among(self, row: Row) -> QuerySet[Any]:
        """Return the records that may match the row."""
        return self.records()

    def records(self) -> QuerySet[Any]:
        return self.model._default_manager.all()

    def write(self, record: Any, row: Row) -> Any:
        given = {name: row[name] for name in self.columns if name in row}
        if record is None:
            # Omit empty values, so that defaults apply.
            saved = self._call(self.save_operation, {n: v for n, v in given.items() if v})
        else:
            changed = {name: v for name, v in given.items() if name not in self.fixed}
            saved = self._call(self.update_operation, {"id": str(record.pk), **changed})
        return self.records().get(pk=int(saved.id))

    def _call(self, name: str, arguments: dict[str, Any]) -> Any:
        saved: Any = pipeline.call_unrecorded(operations.get(name), arguments, self.caller)
        self.redacted += saved.redacted
        return saved


class RowsOfProjects(RowsByOperation):
    """Rows of records that may belong to a project, named by one of its folders."""

    prefetched = ["project__paths"]

    def records(self) -> QuerySet[Any]:
        return self.filter_export(super().records())

    def among(self, row: Row) -> QuerySet[Any]:
        """Match only within the project, since records elsewhere have other readers."""
        path = row.get("project_path")
        project = projects.find(self.caller, path) if path and isinstance(path, str) else None
        there = self.records().filter(project=project)
        return there if project or not path else there.none()

    def cell(self, record: Any, name: str) -> Any:
        if name != "project_path":
            return super().cell(record, name)
        paths = record.project.paths.all() if record.project else []
        return next((one.path for one in paths), None)


def _is_same(stored: Any, given: Any) -> bool:
    """Compare two cells; an empty CSV cell also means None."""
    return stored == given or (stored in (None, "") and given in (None, ""))


@contextmanager
def collecting(problems: Problems) -> Iterator[None]:
    """Collect the problems of an error instead of raising it."""
    try:
        yield
    except ContextdError as error:
        alone = {"field": error.details.get("field"), "error": error.message}
        problems += error.details.get("problems") or [alone]


def each(read: Callable[[Any], Any], values: Iterable[Any]) -> list[Any]:
    """Read each value; raise Invalid with the problems of all."""
    results: list[Any] = []
    problems: Problems = []
    for value in values:
        with collecting(problems):
            results.append(read(value))
    if problems:
        raise Invalid(problems[0]["error"], problems=problems)
    return results


def credentials_in(row: Row) -> Problems:
    return [
        {
            "field": finding.path,
            "error": f"{finding.path} contains a credential ({finding.kind}); remove it, "
            f"or tick “{TAKE_CREDENTIALS_OUT}”",
        }
        for finding in redaction.redact_value(dict(row)).findings
    ]


def structured(name: str, value: Any, empty: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value) if value.strip() else empty
    except ValueError:
        example = '["one", "two"]' if isinstance(empty, list) else '{"branch": "main"}'
        raise Invalid(f"{name} must be JSON, such as {example}", field=name) from None


def flag(name: str, value: Any) -> bool:
    read = FLAGS.get(str(value).strip().lower())
    if read is None:
        raise Invalid(f"{name} must be true or false", field=name)
    return read


def moment(value: Any) -> datetime | None:
    try:
        return parse_datetime(value) if isinstance(value, str) else None
    except ValueError:
        return None


def complaint(problems: Problems, line: int) -> ValidationError:
    """Return every error of a row, each with its line and field."""
    return ValidationError([f"Line {line}: {problem['error']}" for problem in problems])


def shown(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return escape(text if len(text) <= SHOWN_LENGTH else f"{text[:SHOWN_LENGTH]}…")

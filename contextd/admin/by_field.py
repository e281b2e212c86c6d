"""Import of records that the admin edits field by field."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db.models import Model

from contextd import redaction
from contextd.admin.files import Row
from contextd.admin.rows import WritableRows
from contextd.errors import Invalid


class RowsByField(WritableRows):
    """Matches rows to records by `key`, which cannot be changed."""

    model: ClassVar[type[Model]]
    key: ClassVar[str]
    numbers: ClassVar[Sequence[str]] = ()
    related: ClassVar[Sequence[str]] = ()
    """Columns that are not fields, saved separately by `relate`."""

    def known(self, row: Row) -> Any:
        key = row.get(self.key)
        return self.model._default_manager.filter(**{self.key: key}).first() if key else None

    def value_of(self, name: str, cell: Any) -> Any:
        value = super().value_of(name, cell)
        if name in self.lists and not isinstance(value, list):
            raise Invalid(f"{name} must be a list", field=name)
        return number(name, value) if name in self.numbers else value

    def write(self, record: Any, row: Row) -> Any:
        cleaned = redaction.redact_value({n: row[n] for n in self.columns if n in row})
        self.redacted += len(cleaned.findings)
        record = self.model() if record is None else record
        for name in cleaned.value.keys() - {*self.related}:
            setattr(record, name, cleaned.value[name])
        ensure_valid(record)
        record.save()
        self.relate(record, cleaned.value)
        return record

    def relate(self, record: Any, row: Row) -> None:
        """Save related data, and apply the side effects of a change in the admin."""


def ensure_valid(record: Model) -> None:
    """Raises Invalid with every violation of fields and constraints."""
    try:
        record.full_clean()
    except ValidationError as error:
        problems = [
            {"field": field, "error": text if field == NON_FIELD_ERRORS else f"{field}: {text}"}
            for field, texts in error.message_dict.items()
            for text in texts
        ]
        raise Invalid(problems[0]["error"], problems=problems) from None


def number(name: str, value: Any) -> int | None:
    text = str(value).strip()
    try:
        return int(text) if text else None
    except ValueError:
        raise Invalid(f"{name} must be a whole number", field=name) from None

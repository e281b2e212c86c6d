"""Prepare values of all types for display."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

Form = Literal["plain", "long", "moment", "link", "words", "parts", "several"]

MAX_PLAIN_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class Shown:
    """A value with its layout, `form`; `parts` are labelled values, `several` unlabelled ones."""

    form: Form
    value: Any


@dataclass(frozen=True, slots=True)
class Part:
    label: str
    shown: Shown


def parts_of(record: Any, names: list[str]) -> list[Part]:
    """Return the non-empty fields and properties of these names."""
    labels = {field.name: str(field.verbose_name) for field in record._meta.fields}
    return labelled({labels.get(name, name): value_of(record, name) for name in names})


def value_of(record: Any, name: str) -> Any:
    display = getattr(record, f"get_{name}_display", None)
    value = display() if display else getattr(record, name)
    return str(value) if hasattr(value, "_meta") else value


def labelled(values: Mapping[str, Any]) -> list[Part]:
    return [
        Part(label.replace("_", " ").capitalize(), shown(value))
        for label, value in values.items()
        if value not in (None, "", [], {}, ())
    ]


def shown(value: Any) -> Shown:
    match value:
        case date():
            return Shown("moment", value)
        case Mapping():
            return Shown("parts", labelled(value))
        case list() | tuple():
            return listed(list(value))
        case float():
            return Shown("plain", f"{value:.3g}")
        case bool():
            return Shown("plain", "yes" if value else "no")
        case _:
            return text(str(value))


def listed(values: list[Any]) -> Shown:
    """Put short values in a row; stack long and structured ones."""
    inner = [shown(value) for value in values]
    is_short = all(
        one.form == "plain" and len(one.value) <= MAX_PLAIN_CHARACTERS / 2 for one in inner
    )
    return Shown("words" if is_short else "several", inner)


def text(value: str) -> Shown:
    if value.startswith(("https://", "http://")) and not value.split()[1:]:
        return Shown("link", value)
    return Shown("long" if "\n" in value or len(value) > MAX_PLAIN_CHARACTERS else "plain", value)

"""Values of all kinds, in the form in which people read them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

Form = Literal["plain", "long", "moment", "link", "words", "parts", "several"]

LONGEST_PLAIN = 120


@dataclass(frozen=True, slots=True)
class Shown:
    """`form` says how `value` is laid out; `parts` holds labelled ones, `several` unlabelled."""

    form: Form
    value: Any


@dataclass(frozen=True, slots=True)
class Part:
    label: str
    shown: Shown


def parts_of(record: Any, names: list[str]) -> list[Part]:
    """The fields and properties of these names, without those that are empty."""
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
    """Short ones stand in a row, longer ones and what has parts below each other."""
    inner = [shown(value) for value in values]
    is_short = all(one.form == "plain" and len(one.value) <= LONGEST_PLAIN / 2 for one in inner)
    return Shown("words" if is_short else "several", inner)


def text(value: str) -> Shown:
    if value.startswith(("https://", "http://")) and not value.split()[1:]:
        return Shown("link", value)
    return Shown("long" if "\n" in value or len(value) > LONGEST_PLAIN else "plain", value)

"""The arguments of a skill that is used as a prompt, and how they are filled in."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from contextd.errors import Invalid
from contextd.prompts import Argument

ALL = "ARGUMENTS"
HINT = "argument-hint"
_NAME = re.compile(r"[A-Za-z_][\w-]*")
_PLACE = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_][\w-]*)\}|(?P<bare>[A-Za-z_]\w*))")


def declared(front_matter: Mapping[str, Any]) -> tuple[Argument, ...]:
    """Return the arguments that `arguments` lists; with only a hint, one that takes any text.

    Entries without a usable name are left out, so that a list of prompts never fails.
    """
    named = {one.name: one for entry in _entries(front_matter) if (one := _argument(entry))}
    hint = front_matter.get(HINT)
    if named or not hint:
        return tuple(named.values())
    return (Argument("arguments", str(hint)),)


def problems_of(front_matter: Mapping[str, Any]) -> list[str]:
    """Return the arguments that are described, but have no name that a prompt can use."""
    return [
        f"the argument {str(entry)[:80]} needs a `name` of letters, digits, _ and -"
        for entry in _entries(front_matter)
        if isinstance(entry, dict) and _argument(entry) is None
    ]


def _entries(front_matter: Mapping[str, Any]) -> list[Any]:
    metadata = front_matter.get("metadata")
    within = metadata.get("arguments") if isinstance(metadata, dict) else None
    value = front_matter.get("arguments") or within or []
    entries = _listed(value) if isinstance(value, str) else value
    return entries if isinstance(entries, list) else []


def _argument(entry: Any) -> Argument | None:
    fields = entry if isinstance(entry, dict) else {"name": entry}
    name, description = fields.get("name"), fields.get("description")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return None
    return Argument(
        name, None if description is None else str(description), fields.get("required") is True
    )


def _listed(text: str) -> Any:
    """Parse a list from JSON text, since `metadata` holds text only."""
    if text.startswith("["):
        with suppress(ValueError, RecursionError):
            return json.loads(text)
    return [name for name in re.split(r"[,\s]+", text) if name]


def filled(content: str, asked: Sequence[Argument], given: Mapping[str, str]) -> str:
    """Replace each `$name` by the given value; append values that have no placeholder.

    Raises Invalid for missing or unknown arguments.
    """
    _check(asked, given)
    values = {ALL: " ".join(given[one.name] for one in asked if one.name in given)}
    values |= {one.name: given.get(one.name, "") for one in asked}
    found = {match["braced"] or match["bare"] for match in _PLACE.finditer(content)}
    text = _PLACE.sub(lambda match: values.get(match["braced"] or match["bare"], match[0]), content)
    unplaced = [] if ALL in found else [name for name in given if name not in found]
    lines = [f"- {name}: {given[name]}" for name in unplaced]
    return "\n".join([text.rstrip(), "", "Arguments:", *lines]) if lines else text


def _check(asked: Sequence[Argument], given: Mapping[str, str]) -> None:
    names = [one.name for one in asked]
    unknown = [name for name in given if name not in names]
    if unknown:
        raise Invalid(
            f"unknown argument {unknown[0]!r}; this prompt takes: {', '.join(names) or 'none'}",
            field=unknown[0],
        )
    missing = [one.name for one in asked if one.is_required and not given.get(one.name, "").strip()]
    if missing:
        raise Invalid(f"{missing[0]} is required", field=missing[0])

"""The arguments of a skill that is used as a prompt, and how they are filled in."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from contextd.errors import Invalid
from contextd.prompts import Argument

ALL = "ARGUMENTS"
HINT = "argument-hint"
_NAME = re.compile(r"[A-Za-z_][\w-]*")
_PLACE = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_][\w-]*)\}|(?P<bare>[A-Za-z_]\w*))")


def declared(front_matter: Mapping[str, Any]) -> tuple[Argument, ...]:
    """Return the arguments that `arguments` lists; with only a hint, one that takes any text."""
    metadata = front_matter.get("metadata")
    within = metadata.get("arguments") if isinstance(metadata, dict) else None
    named = tuple(_named(front_matter.get("arguments") or within or []))
    hint = front_matter.get(HINT)
    if named or not hint:
        return named
    return (Argument("arguments", str(hint)),)


def _named(value: Any) -> Iterator[Argument]:
    names = _listed(value) if isinstance(value, str) else value
    for one in names if isinstance(names, list) else []:
        told = one if isinstance(one, dict) else {"name": one}
        if _NAME.fullmatch(str(told.get("name"))):
            description = told.get("description")
            yield Argument(
                str(told["name"]),
                None if description is None else str(description),
                told.get("required") is True,
            )


def _listed(text: str) -> Any:
    """Parse a list from JSON text, since `metadata` holds text only."""
    if text.startswith("["):
        with suppress(ValueError, RecursionError):
            return json.loads(text)
    return re.split(r"[,\s]+", text)


def filled(content: str, asked: Sequence[Argument], given: Mapping[str, str]) -> str:
    """Replace each `$name` by the given value; append values that have no placeholder.

    Raises Invalid for missing or unknown arguments.
    """
    _check(asked, given)
    values = {ALL: " ".join(given[one.name] for one in asked if one.name in given)}
    values |= {one.name: given.get(one.name, "") for one in asked}
    found = {match["braced"] or match["bare"] for match in _PLACE.finditer(content)}
    if found & values.keys():
        return _PLACE.sub(
            lambda match: values.get(match["braced"] or match["bare"], match[0]), content
        )
    lines = [f"- {name}: {text}" for name, text in given.items()]
    return "\n".join([content.rstrip(), "", "Arguments:", *lines]) if lines else content


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

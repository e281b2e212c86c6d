"""The arguments of a skill that is used as a prompt, and how they are filled in."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from contextd.errors import Invalid
from contextd.prompts import Argument

ALL = "ARGUMENTS"
PLACES_OF_ALL = ("$ARGUMENTS", "${ARGUMENTS}")
TEXT = "arguments"
"""The argument of a prompt that takes any text."""
HINT = "argument-hint"
MAX_CHARACTERS = 200_000
"""The longest text that a skill and the arguments in its places may become."""
_NAME = re.compile(r"[A-Za-z_][\w-]*")
_PLACE = re.compile(
    r"\$(?:ARGUMENTS\[(?P<index>\d{1,2})\]|(?P<position>\d{1,2})\b(?![.,]\d)"
    r"|\{(?P<braced>[A-Za-z_][\w-]*)\}|(?P<bare>[A-Za-z_]\w*))"
)


def declared(front_matter: Mapping[str, Any], *, takes_text: bool) -> tuple[Argument, ...]:
    """Return the arguments that `arguments` lists.

    Without any, a hint or content that `takes_text` means one argument for any text. Entries
    without a usable name are left out, so that a list of prompts never fails.
    """
    named = {one.name: one for entry in _entries(front_matter) if (one := _argument(entry))}
    hint = front_matter.get(HINT)
    if named or not (hint or takes_text):
        return tuple(named.values())
    return (Argument(TEXT, str(hint) if hint else None),)


def takes_text(content: str) -> bool:
    """Return whether the content has a place for all that is typed."""
    return any(place in content for place in PLACES_OF_ALL)


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
    """Replace `$name`, and by position `$0` and `$ARGUMENTS[0]`; append values without a place.

    Raises Invalid for missing or unknown arguments, and for a text longer than MAX_CHARACTERS.
    """
    _check(asked, given)
    texts = {one.name: given.get(one.name, "") for one in asked}
    texts[ALL] = " ".join(given[one.name] for one in asked if one.name in given)
    words = _by_position(asked, given)
    placed: set[str | int] = set()

    def fill(place: re.Match[str]) -> str:
        if name := place["braced"] or place["bare"]:
            placed.add(name)
            return texts.get(name, place[0])
        position = int(place["index"] or place["position"])
        placed.add(position)
        beyond = "" if place["index"] else place[0]  # without a word it may be a price
        return words[position][1] if position < len(words) else beyond

    # A short text may have very many places, so it is measured before it is written.
    _ensure_short(len(content) + sum(len(fill(place)) for place in _PLACE.finditer(content)))
    text = _PLACE.sub(fill, content)
    left = {name for position, (name, _) in enumerate(words) if position not in placed} - placed
    lines = [f"- {name}: {given[name]}" for name in given if name in left and ALL not in placed]
    _ensure_short(len(text) + sum(map(len, lines)))
    return "\n".join([text.rstrip(), "", "Arguments:", *lines]) if lines else text


def _ensure_short(length: int) -> None:
    if length > MAX_CHARACTERS:
        raise Invalid(
            f"arguments make a text of {length:,} characters, at most {MAX_CHARACTERS:,} are"
            " allowed: shorten them",
            field="arguments",
        )


def _by_position(asked: Sequence[Argument], given: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the name and value of each argument, or of each word of any text."""
    if [one.name for one in asked] == [TEXT]:
        return [(TEXT, word) for word in _words(given.get(TEXT, ""))]
    return [(one.name, given.get(one.name, "")) for one in asked]


def _words(text: str) -> list[str]:
    """Split at white space, except in quotes."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


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

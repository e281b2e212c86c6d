"""Check each definition that an upstream lists; a bad one never hides the others."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from contextd.validation import unstorable
from gateway import pinning
from gateway.models import NAME_LENGTH, Kind

MAX_LISTED = 1000
MAX_DEFINITION_CHARACTERS = 256 * 1024
MAX_NAME_CHARACTERS = 200
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
_KEYS = {Kind.RESOURCE: "uri", Kind.TEMPLATE: "uriTemplate"}


@dataclass(frozen=True, slots=True)
class Listed:
    """The valid definitions by name or address, and the problems of the rest."""

    definitions: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def check(kind: Kind, raw: Iterable[Any]) -> Listed:
    listed, key = Listed(), _KEYS.get(kind, "name")
    for number, one in enumerate(raw, start=1):
        name = one.get(key) if isinstance(one, dict) else None
        if problem := _problem_of(kind, name, one, listed.definitions):
            listed.problems.append(f"{kind} {number} ({str(name)[:80]!r}) is left out: {problem}")
        else:
            listed.definitions[one[key]] = pinning.pinned(kind, one)
    return listed


def _problem_of(kind: Kind, name: Any, one: Any, known: dict[str, dict[str, Any]]) -> str | None:
    if not isinstance(name, str):
        return "it has no name" if kind in (Kind.TOOL, Kind.PROMPT) else "it has no address"
    longest = NAME_LENGTH if kind in _KEYS else MAX_NAME_CHARACTERS
    if not 0 < len(name) <= longest:
        return f"its name is empty or longer than {longest} characters"
    if kind in _KEYS and not _URI.fullmatch(name):
        return "its address is not valid"
    if name in known:
        return "its name is used twice"
    if len(known) >= MAX_LISTED:
        return f"there are more than {MAX_LISTED}"
    return next(_problems_of_parts(kind, one), None) or _problem_of_text(kind, one)


def _problems_of_parts(kind: Kind, one: dict[str, Any]) -> Iterator[str]:
    for key in ("name", "title", "description", "mimeType"):
        if not isinstance(one.get(key, ""), str | None):
            yield f"its {key} is not text"
    if kind == Kind.TOOL:
        yield from _problems_of_tool(one)
    if kind == Kind.PROMPT and not _are_arguments(one.get("arguments") or []):
        yield "its arguments are not a list of names and descriptions"


def _problems_of_tool(tool: dict[str, Any]) -> Iterator[str]:
    for key in ("inputSchema", "outputSchema"):
        schema = tool.get(key, {"type": "object"} if key == "outputSchema" else None)
        if not isinstance(schema, dict) or schema.get("type") != "object":
            yield f"its {key} is not the schema of an object"
    if not isinstance(tool.get("annotations", {}), dict | None):
        yield "its annotations are not an object"


def _are_arguments(arguments: Any) -> bool:
    return isinstance(arguments, list) and all(
        isinstance(one, dict)
        and isinstance(one.get("name"), str)
        and isinstance(one.get("description", ""), str | None)
        for one in arguments
    )


def _problem_of_text(kind: Kind, one: dict[str, Any]) -> str | None:
    pinned = pinning.pinned(kind, one)
    if len(pinning.canonical_json(pinned)) > MAX_DEFINITION_CHARACTERS:
        return f"its definition is larger than {MAX_DEFINITION_CHARACTERS} characters"
    if unstorable(pinned):
        return "it contains characters that cannot be stored"
    return None

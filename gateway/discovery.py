"""Check each definition that an upstream lists; a bad one never hides the others."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from contextd.validation import unstorable
from gateway import pinning
from gateway.models import NAME_LENGTH, Kind

MAX_ACCEPTED = 1000
MAX_DEFINITION_CHARACTERS = 256 * 1024
MAX_CHARACTERS = 2 * 1024 * 1024
"""Characters of all definitions of a kind; every caller's list contains them."""
MAX_NAME_BYTES = 200
MAX_ADDRESS_BYTES = NAME_LENGTH
"""Bytes, not characters: PostgreSQL limits the bytes of what it indexes."""
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
_KEYS = {Kind.RESOURCE: "uri", Kind.TEMPLATE: "uriTemplate"}
_SCHEMAS = ("inputSchema", "outputSchema")
_BOOLEAN_SCHEMAS: Mapping[bool, dict[str, Any]] = {True: {}, False: {"not": {}}}


# What the protocol versions that we serve accept, since one result lists all definitions.
class _Described(BaseModel):
    name: str | None = None
    title: str | None = None
    description: str | None = None
    mimeType: str | None = None


class _Schema(BaseModel):
    dialect: str = Field("", alias="$schema")
    type: Literal["object"]
    properties: dict[str, dict[str, Any]] = {}
    required: list[str] = []


class _Annotations(BaseModel):
    title: str | None = None
    readOnlyHint: bool | None = None
    destructiveHint: bool | None = None
    idempotentHint: bool | None = None
    openWorldHint: bool | None = None


class _Tool(_Described):
    inputSchema: _Schema
    outputSchema: _Schema | None = None
    annotations: _Annotations | None = None


class _Argument(BaseModel):
    name: str
    description: str | None = None


class _Prompt(_Described):
    arguments: list[_Argument] | None = None


_FORMS: Mapping[Kind, type[BaseModel]] = {Kind.TOOL: _Tool, Kind.PROMPT: _Prompt}


@dataclass(frozen=True, slots=True)
class Listed:
    """The valid definitions by name or address, and the problems of the rest."""

    definitions: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    beyond_limits: list[str] = field(default_factory=list)
    """Names of what is left out because the definitions are too many or too large together."""


def key_of(kind: Kind) -> str:
    """Return the part of a definition that names it."""
    return _KEYS.get(kind, "name")


def check(kind: Kind, raw: Iterable[Any], known: Collection[str] = ()) -> Listed:
    """Sort out what clients can be offered; the known ones come first if there is too much."""
    key = key_of(kind)
    definitions = [normalize(kind, one) if isinstance(one, dict) else {} for one in raw]
    numbered = list(enumerate(definitions, start=1))
    numbered.sort(key=lambda one: str(one[1].get(key)) not in known)
    listed, size = Listed(), 0
    for number, definition in numbered:
        name = definition.get(key)
        problem = _problem_of(kind, name, definition, listed.definitions)
        length = 0 if problem else len(pinning.canonical_json(definition))
        if not problem and (problem := _limit_problem(len(listed.definitions), size + length)):
            listed.beyond_limits.append(str(name))
        if problem:
            listed.problems.append(f"{kind} {number} ({str(name)[:80]!r}) is left out: {problem}")
        else:
            listed.definitions[definition[key]] = definition
            size += length
    return listed


def _limit_problem(accepted: int, size: int) -> str | None:
    if accepted >= MAX_ACCEPTED:
        return f"there are more than {MAX_ACCEPTED}"
    if size > MAX_CHARACTERS:
        return f"the definitions are together larger than {MAX_CHARACTERS} characters"
    return None


def normalize(kind: Kind, raw: dict[str, Any]) -> dict[str, Any]:
    """Return the parts that clients see, with schemas that every protocol version can express."""
    definition = _as_stored(pinning.pinned(kind, raw))
    schemas = {key: definition[key] for key in _SCHEMAS if isinstance(definition.get(key), dict)}
    return {**definition, **{key: _with_objects(schema) for key, schema in schemas.items()}}


def _as_stored(value: Any) -> Any:
    """Return the value as PostgreSQL returns it, which writes numbers without an exponent."""
    if isinstance(value, dict):
        return {key: _as_stored(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_as_stored(part) for part in value]
    if isinstance(value, float) and "e+" in repr(value):
        return int(Decimal(repr(value)))
    return value


def _with_objects(schema: dict[str, Any]) -> dict[str, Any]:
    """Return an equivalent schema whose properties are an object of objects.

    PHP writes an empty object as a list, and versions before 2026-07-28 have no boolean schemas.
    """
    properties = schema.get("properties", {}) or {}
    if "properties" not in schema or not isinstance(properties, dict):
        return schema
    objects = {
        name: _BOOLEAN_SCHEMAS[part] if isinstance(part, bool) else part
        for name, part in properties.items()
    }
    return {**schema, "properties": objects}


def _problem_of(
    kind: Kind, name: Any, definition: dict[str, Any], known: Mapping[str, Any]
) -> str | None:
    if not isinstance(name, str):
        return "it has no address" if kind in _KEYS else "it has no name"
    max_bytes = MAX_ADDRESS_BYTES if kind in _KEYS else MAX_NAME_BYTES
    if not 0 < len(name.encode(errors="replace")) <= max_bytes:
        return f"its name is empty or longer than {max_bytes} bytes"
    if kind in _KEYS and not _URI.fullmatch(name):
        return "its address is not valid"
    if name in known:
        return "its name is used twice"
    return _problem_of_form(kind, definition) or _problem_of_storing(definition)


def _problem_of_form(kind: Kind, definition: dict[str, Any]) -> str | None:
    try:
        _FORMS.get(kind, _Described).model_validate(definition)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return None


def _problem_of_storing(definition: dict[str, Any]) -> str | None:
    try:
        text = pinning.canonical_json(definition)
    except ValueError:
        return "it contains a number that JSON does not have"
    if len(text) > MAX_DEFINITION_CHARACTERS:
        return f"its definition is larger than {MAX_DEFINITION_CHARACTERS} characters"
    if unstorable(definition):
        return "it contains characters that cannot be stored"
    return None

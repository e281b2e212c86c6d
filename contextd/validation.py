"""The field types of requests, and the messages for invalid values."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails, PydanticCustomError

from contextd.errors import Invalid

MAX_PATH_LENGTH = 4096
MAX_ID_DIGITS = 18
MAX_PROBLEMS = 20
MAX_FIELD_LENGTH = 100

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def unstorable(value: Any) -> str | None:
    """Return what PostgreSQL cannot store in a text, or in texts of a value, as a sentence."""
    for text in _texts_in(value):
        if found := _UNSTORABLE.search(text):
            what = "a NUL character" if found[0] == "\0" else "half of a surrogate pair"
            return f"must not contain {what}"
    return None


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for pair in value.items() for part in pair for text in _texts_in(part))
    elif isinstance(value, Sequence):
        yield from (text for part in value for text in _texts_in(part))


def ensure_storable(values: Mapping[str, Any]) -> None:
    """Raise Invalid, naming the first value whose text PostgreSQL cannot store."""
    for name, value in values.items():
        if problem := unstorable(value):
            raise Invalid(f"{name} {problem}", field=name)


def replace_unstorable(text: str) -> str:
    """Replace each character that PostgreSQL does not store by U+FFFD."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def printable(text: str, max_length: int | None = None) -> str:
    """Return the text as one printable line, cut at `max_length` characters."""
    if not text.isprintable():
        text = "".join(filter(str.isprintable, text.replace("\n", " ")))
    return text[:max_length]


def parse_digits(text: str, max_digits: int = MAX_ID_DIGITS) -> int | None:
    """Return the number that ASCII digits spell, such as an id; None for any other text."""
    is_number = text.isascii() and text.isdigit() and len(text) <= max_digits
    return int(text) if is_number else None


def _storable(text: str) -> str:
    if problem := unstorable(text):
        raise PydanticCustomError("unstorable", problem)
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "is required")
    return text


Text = Annotated[str, AfterValidator(_storable)]
"""Text that PostgreSQL can store; add a `Field` with `max_length` to it."""

Filled = Annotated[Text, AfterValidator(_not_blank)]
"""`Text` that must hold more than white space."""


def Clamp(low: float, high: float) -> AfterValidator:
    """Return a validator that moves a number to the nearest bound; the result states it."""
    return AfterValidator(lambda number: min(max(number, low), high))


def clean_path(path: str) -> str:
    r"""Refuse a path that is not absolute, contains `..`, or is not normalized (seed 001).

    A Windows path, which clients write in several ways, is returned as `C:\\w\\shop`.
    """
    if PureWindowsPath(path).drive and not path.startswith("//"):
        path = path.replace("/", "\\")
        path = path[0].upper() + path[1:]
    pure = pure_path(path)
    if not pure.is_absolute():
        raise PydanticCustomError("path_relative", "must be an absolute path")
    if ".." in path:
        raise PydanticCustomError("path_traversal", "must not contain '..'")
    if str(pure) != path or path.startswith("//"):
        raise PydanticCustomError(
            "path_unclean", "must be a clean path, without doubled or trailing separators"
        )
    return path


def pure_path(path: str) -> PurePath:
    """Return the path in the flavour of its system, Windows or POSIX."""
    return (PureWindowsPath if PureWindowsPath(path).drive else PurePosixPath)(path)


def checked_path(path: str, field: str) -> str:
    """Return the path as `clean_path` does, for paths outside of requests. Raise Invalid."""
    try:
        return clean_path(path)
    except PydanticCustomError as error:
        raise Invalid(f"{field} {error.message()}", field=field) from None


AbsolutePath = Annotated[Text, AfterValidator(clean_path), Field(max_length=MAX_PATH_LENGTH)]
RecordId = Annotated[Filled, Field(max_length=64)]
Tag = Annotated[Filled, AfterValidator(str.strip), Field(max_length=50)]
Tags = Annotated[list[Tag], Field(max_length=20)]
ErrorMessage = Annotated[Filled, Field(max_length=10_000, description="The error, as printed")]
OfProject = Annotated[AbsolutePath | None, Field(description="Only this project (absolute path)")]
GitRemote = Annotated[
    Text | None,
    Field(
        max_length=500,
        description="Output of `git remote get-url origin`: names the project in every clone",
    ),
]
Limit = Annotated[int, Clamp(1, 100), Field(description="Maximum number of results, 1 to 100")]
Offset = Annotated[int, Clamp(0, 2**31), Field(description="Number of results to skip")]
Notice = Annotated[str | None, Field(description="A remark on this answer, if there is one")]


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def StringMap(*, keys: int, key_length: int, value_length: int) -> Any:
    """Return the type of an object of strings: other values become compact JSON text."""

    def convert(mapping: Any) -> dict[str, str]:
        if not isinstance(mapping, dict):
            raise PydanticCustomError("object", "must be an object")
        if len(mapping) > keys:
            raise PydanticCustomError(
                "too_many_keys",
                "has {count} keys, at most {keys} are kept",
                {"count": len(mapping), "keys": keys},
            )
        texts = {str(key): as_text(value) for key, value in mapping.items()}
        for key, value in texts.items():
            refuse_long(key, value)
        return texts

    def refuse_long(key: str, value: str) -> None:
        for what, length, limit in (
            ("key", len(key), key_length),
            ("value", len(value), value_length),
        ):
            if length > limit:
                raise PydanticCustomError(
                    "entry_too_long",
                    "has a {what} that is too long at {key}: {length} characters, at most {limit}",
                    {"what": what, "key": repr(key[:key_length]), "length": length, "limit": limit},
                )

    schema = {"type": "object", "maxProperties": keys, "additionalProperties": True}
    return Annotated[dict[Text, Text], BeforeValidator(convert), WithJsonSchema(schema)]


Metadata = StringMap(keys=50, key_length=50, value_length=1000)
METADATA_LIMITS = "At most 50 facts, keys of 50 and values of 1,000 characters"
Facts = StringMap(keys=100, key_length=50, value_length=500)


def problems(error: ValidationError, operation: str, known: list[str]) -> list[dict[str, str]]:
    """Return one `{"field", "error"}` for each problem, in the caller's terms.

    However many there are, at most `MAX_PROBLEMS` are returned; the last one counts the rest.
    """
    unknown: list[str] = []
    found: list[dict[str, str]] = []
    details = error.errors(include_url=False)
    for detail in details:
        if detail["type"] == "extra_forbidden":
            unknown.append(_field_of(detail))
        elif len(found) < MAX_PROBLEMS - 2:
            found.append(_problem(detail))
    omitted = len(details) - len(unknown) - len(found)
    if unknown:
        found.append({"field": unknown[0], "error": _unknown_arguments(unknown, operation, known)})
    if omitted:
        found.append({"field": "arguments", "error": f"and {omitted:,} more problems"})
    return found


def _unknown_arguments(unknown: list[str], operation: str, known: list[str]) -> str:
    named = ", ".join(map(repr, unknown[:MAX_PROBLEMS]))
    rest = f" and {len(unknown) - MAX_PROBLEMS:,} more" if len(unknown) > MAX_PROBLEMS else ""
    noun = "argument" if len(unknown) == 1 else "arguments"
    return f"unknown {noun} {named}{rest}; {operation} takes: {', '.join(known) or 'none'}"


def _field_of(detail: ErrorDetails) -> str:
    return ".".join(map(str, detail["loc"]))[:MAX_FIELD_LENGTH] or "arguments"


def _problem(detail: ErrorDetails) -> dict[str, str]:
    field = _field_of(detail)
    context = detail.get("ctx", {})
    match detail["type"]:
        case "missing" | "blank":
            sentence = f"{field} is required"
        case "too_long" | "string_too_long":
            units = "characters" if isinstance(detail["input"], str) else "entries"
            length, limit = len(detail["input"]), context["max_length"]
            sentence = f"{field} has {length} {units}, at most {limit} are kept"
        case "literal_error":
            sentence = f"{field} must be one of {context['expected']}"
        case "model_type":
            sentence = "the arguments must be an object"
        case _ if "ctx" not in detail and detail["type"] in _OWN_TYPES:
            sentence = f"{field} {detail['msg']}"
        case _:
            sentence = (
                f"{field} {_lower_first(detail['msg']).replace('input should be', 'must be')}"
            )
    return {"field": field, "error": sentence}


_OWN_TYPES = {"unstorable", "path_relative", "path_traversal", "path_unclean", "object"}


def _lower_first(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]

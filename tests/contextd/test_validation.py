"""What callers are told when an argument breaks its rule."""

from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, TypeAdapter, ValidationError

from contextd.callers import Caller
from contextd.errors import Invalid
from contextd.operations import Operation, Rate, Request, Result
from contextd.validation import (
    AbsolutePath,
    Clamp,
    Filled,
    Metadata,
    Tags,
    checked_path,
    clean_path,
    parse_digits,
    printable,
    replace_unstorable,
)


class Probe(Request):
    """Everything a request can hold."""

    name: Annotated[Filled, Field(max_length=5)]
    path: AbsolutePath = "/w"
    count: Annotated[int, Clamp(1, 100)] = 5
    share: Annotated[float, Clamp(0, 1)] = 0.5
    mode: Literal["a", "b"] = "a"
    tags: Tags = []
    facts: Metadata = {}


def answer(caller: Caller, request: Probe) -> Result:
    return Result()


PROBE = Operation(
    name="probe",
    handler=answer,
    request=Probe,
    result=Result,
    effect="read",
    timeout=1,
    rate=Rate(10, 20),
    atomic=True,
)

REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({}, "name", "name is required"),
    ({"name": ""}, "name", "name is required"),
    ({"name": " \n"}, "name", "name is required"),
    ({"name": "toolong"}, "name", "name has 7 characters, at most 5 are kept"),
    ({"name": "a\x00b"}, "name", "name must not contain a NUL character"),
    (
        {"name": "\ud800"},
        "name",
        "name must not contain half of a surrogate pair",
    ),
    ({"name": 3}, "name", "name must be a valid string"),
    (
        {"name": "x", "nmae": 1},
        "nmae",
        "unknown argument 'nmae'; probe takes: name, path, count, share, mode, tags, facts",
    ),
    ({"name": "x", "path": "w/app"}, "path", "path must be an absolute path"),
    ({"name": "x", "path": "/w/../app"}, "path", "path must not contain '..'"),
    (
        {"name": "x", "path": "/w//app"},
        "path",
        "path must be a clean path, without doubled or trailing separators",
    ),
    (
        {"name": "x", "path": "/w/app/"},
        "path",
        "path must be a clean path, without doubled or trailing separators",
    ),
    (
        {"name": "x", "path": "/w/./app"},
        "path",
        "path must be a clean path, without doubled or trailing separators",
    ),
    (
        {"name": "x", "path": "/" + "w" * 4096},
        "path",
        "path has 4097 characters, at most 4096 are kept",
    ),
    (
        {"name": "x", "count": "many"},
        "count",
        "count must be a valid integer, unable to parse string as an integer",
    ),
    ({"name": "x", "share": float("nan")}, "share", "share must be a finite number"),
    ({"name": "x", "mode": "c"}, "mode", "mode must be one of 'a' or 'b'"),
    ({"name": "x", "tags": ["t"] * 21}, "tags", "tags has 21 entries, at most 20 are kept"),
    (
        {"name": "x", "tags": ["ok", "t" * 51]},
        "tags.1",
        "tags.1 has 51 characters, at most 50 are kept",
    ),
    ({"name": "x", "facts": []}, "facts", "facts must be an object"),
    (
        {"name": "x", "facts": dict.fromkeys(map(str, range(51)), "v")},
        "facts",
        "facts has 51 keys, at most 50 are kept",
    ),
    (
        {"name": "x", "facts": {"k" * 51: "v"}},
        "facts",
        f"facts has a key that is too long at '{'k' * 50}': 51 characters, at most 50",
    ),
    (
        {"name": "x", "facts": {"k": "v" * 1001}},
        "facts",
        "facts has a value that is too long at 'k': 1001 characters, at most 1000",
    ),
]


@pytest.mark.parametrize(
    ("arguments", "field", "sentence"), REFUSED, ids=lambda value: str(value)[:40]
)
def test_a_broken_rule_names_the_field_and_what_to_do(
    arguments: dict[str, Any], field: str, sentence: str
) -> None:
    with pytest.raises(Invalid) as refused:
        PROBE.parse(arguments)

    assert refused.value.text == f"[validation] {sentence}"
    assert refused.value.details["field"] == field
    assert refused.value.details["error"] == sentence


def test_every_broken_rule_is_told_at_once() -> None:
    with pytest.raises(Invalid) as refused:
        PROBE.parse({"mode": "c"})

    assert [problem["field"] for problem in refused.value.details["problems"]] == ["name", "mode"]
    assert refused.value.message == "name is required; mode must be one of 'a' or 'b'"


def test_arguments_that_are_no_object_are_refused() -> None:
    with pytest.raises(Invalid) as refused:
        PROBE.parse([1])  # type: ignore[arg-type]

    assert refused.value.message == "the arguments must be an object"


@pytest.mark.parametrize(("given", "used"), [(0, 1), (-5, 1), (1, 1), (100, 100), (10**30, 100)])
def test_a_number_outside_its_range_becomes_the_nearest_inside(given: int, used: int) -> None:
    parsed = PROBE.parse({"name": "x", "count": given})

    assert parsed.count == used  # type: ignore[attr-defined]


def test_values_of_a_map_become_text() -> None:
    parsed = PROBE.parse(
        {"name": "x", "facts": {"n": 1, "b": True, "z": None, "l": [1, {"a": 2}], "t": "as is"}}
    )

    assert parsed.facts == {  # type: ignore[attr-defined]
        "n": "1",
        "b": "true",
        "z": "null",
        "l": '[1,{"a":2}]',
        "t": "as is",
    }


def test_unknown_arguments_are_named_together() -> None:
    with pytest.raises(Invalid) as refused:
        PROBE.parse({"name": "x", "a": 1, "b": 2})

    takes = "probe takes: name, path, count, share, mode, tags, facts"
    assert refused.value.message == f"unknown arguments 'a', 'b'; {takes}"


def test_however_much_is_wrong_the_answer_stays_short() -> None:
    wrong = {f"{'k' * 1000}{number}": 1 for number in range(30_000)}

    with pytest.raises(Invalid, match="and 29,980 more; probe takes") as refused:
        PROBE.parse({**wrong, "tags": [""] * 20, "facts": [], "mode": "c"})

    assert refused.value.message.endswith("and 5 more problems")
    assert len(str(refused.value.as_dict())) < 10_000


@pytest.mark.parametrize("path", ["/", "/w/app", "C:\\work\\app", "/with space/é"])
def test_clean_absolute_paths_are_kept(path: str) -> None:
    assert clean_path(path) == path


@pytest.mark.parametrize("path", ["c:\\w\\shop", "C:/w/shop", "c:/w/shop", "C:\\w/shop"])
def test_a_path_of_windows_has_one_form(path: str) -> None:
    assert clean_path(path) == "C:\\w\\shop"


@pytest.mark.parametrize("path", ["C:/w/shop/", "C:\\w\\\\shop", "//w/shop"])
def test_a_path_with_too_many_separators_is_refused(path: str) -> None:
    with pytest.raises(Invalid, match="path must be a clean path, without doubled or"):
        checked_path(path, "path")


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("007", 7), ("9" * 18, 10**18 - 1), ("9" * 19, None), ("", None), ("-1", None)]
    + [(text, None) for text in ("²", "٣", " 1", "1_0")],
)
def test_only_ascii_digits_of_a_sane_length_are_a_number(text: str, number: int | None) -> None:
    assert parse_digits(text) == number


def test_what_cannot_be_stored_or_shown_is_taken_out_of_a_text() -> None:
    assert replace_unstorable("a\0b\ud800\n") == "a\ufffdb\ufffd\n"
    assert printable("a\nb\x1b\0c\ud800d") == "a bcd"
    assert printable("abcd", 3) == "abc"


@given(st.text(max_size=60))
def test_any_text_is_either_a_clean_path_or_refused(text: str) -> None:
    try:
        path: str = TypeAdapter(AbsolutePath).validate_python(text)
    except ValidationError:
        return
    assert ".." not in path
    assert path[0] == "/" or path[1] == ":" or path.startswith("\\\\")

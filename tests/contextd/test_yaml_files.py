from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict, Field

from contextd import yaml_files
from contextd.yaml_files import Faulty


class Step(BaseModel):
    model_config = ConfigDict(extra="forbid")

    action: str = Field(max_length=10)


class Recipe(BaseModel):
    name: str
    written: date
    steps: list[Step]


GOOD = """\
recipe:
  name: tea
  written: 2026-01-31
  steps:
    - action: boil
    - action: pour
"""


def complaints(path: Path, text: str) -> list[str]:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Faulty) as raised:
        yaml_files.read(path, "tea.yaml").parse(Recipe, ("recipe",))
    return [str(complaint) for complaint in raised.value.complaints]


def test_a_part_of_a_file_becomes_a_model(tmp_path: Path) -> None:
    path = tmp_path / "tea.yaml"
    path.write_text(GOOD, encoding="utf-8")

    recipe = yaml_files.read(path).parse(Recipe, ("recipe",))

    assert recipe.written == date(2026, 1, 31)
    assert [step.action for step in recipe.steps] == ["boil", "pour"]


def test_all_that_is_wrong_is_said_with_its_lines(tmp_path: Path) -> None:
    text = GOOD.replace("tea", "[]").replace(
        "action: pour", "action: pour it slowly\n      who: me"
    )

    assert complaints(tmp_path / "f", text) == [
        "tea.yaml:2: name: input should be a valid string",
        "tea.yaml:6: steps.1.action: string should have at most 10 characters",
        "tea.yaml:7: steps.1.who is not a known field",
    ]


def test_what_is_missing_is_said_where_it_should_be(tmp_path: Path) -> None:
    text = GOOD.replace("  name: tea\n", "").replace("- action: pour", "- {}")

    assert complaints(tmp_path / "f", text) == [
        "tea.yaml:1: name is required",
        "tea.yaml:5: steps.1.action is required",
    ]


def test_what_is_no_yaml_is_said_with_its_line(tmp_path: Path) -> None:
    assert complaints(tmp_path / "f", GOOD.replace("tea", "]")) == [
        "tea.yaml:2: did not find expected node content"
    ]


LAUGHS = "a: &a [x, x]\n" + "".join(
    f"{name}: &{name} [*{before}, *{before}]\n"
    for before, name in pairwise("abcdefghijklmnopqrstuvwxyz")
)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a: 1\nx: 2024-02-30", 2, "2024-02-30 is not a valid timestamp"),
        ("a: 1\nx: !!timestamp abc", 2, "abc is not a valid timestamp"),
        ("a: 1\nx: !!int abc", 2, "abc is not a valid int"),
        ("a: 1\nx: !!int ''", 2, " is not a valid int"),
        ("a: 1\nx: !!bool abc", 2, "abc is not a valid bool"),
        ("a: 1\nx: !thing abc", 2, "could not determine a constructor for the tag '!thing'"),
        ("&a {\nx: *a}", 2, "it is nested too deeply, or contains itself"),
        ("&a {<<: *a}", 1, "it is nested too deeply, or contains itself"),
        ("[" * 200 + "]" * 200, 1, "it is nested too deeply, or contains itself"),
        ("[" * 9000, 1, "exceeded maximum nesting depth"),
        (LAUGHS, 1, "it is too large once its aliases are expanded"),
        ("é: 1\nx: \x01", 2, "control characters are not allowed"),
        ("a: 1\nx: '\ud800'", 2, "half a character is not allowed"),
        ('a: 1\nx: "\\0"', 2, "a NUL character is not allowed"),
        (b"a: 1\nx: \xff", 2, "invalid leading UTF-8 octet"),
        ("? [a, b]\n: c\n? [a, b]\n: c", 1, "found unhashable key"),
    ],
)
def test_whatever_cannot_be_read_is_said_with_its_line(
    text: str | bytes, line: int, reason: str
) -> None:
    with pytest.raises(Faulty) as raised:
        yaml_files.parse(text, "f")

    assert [str(one) for one in raised.value.complaints] == [f"f:{line}: {reason}"]


def test_aliases_repeat_what_they_name() -> None:
    assert yaml_files.parse("a: &a {x: 1}\nb: *a\nc: {<<: *a}", "f").content == {
        name: {"x": 1} for name in "abc"
    }


def test_a_key_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    assert complaints(tmp_path / "f", GOOD + "  name: coffee\n") == [
        "tea.yaml:7: name is given twice"
    ]

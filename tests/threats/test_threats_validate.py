"""`manage.py threats validate` tells all that is wrong with threat files, and where."""

import shutil
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from threats import code, knowledge, weaknesses
from threats.schema import SUPPORTED_FRAMEWORKS, SUPPORTED_LANGUAGES

EXAMPLE = Path(__file__).parent / "example.yaml"
ID = "TMKB-EXAMPLE-001"
GENERALIZES = (
    "generalizes_to:\n    - Gift cards, invitations and every other thing that may be used once\n"
)


def validate(folder: Path) -> str:
    """What it says, be it good or bad."""
    output = StringIO()
    try:
        call_command("threats", "validate", str(folder), stdout=output)
    except CommandError as error:
        return str(error)
    return output.getvalue().strip()


def line_of(path: Path, text: str) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.fixture
def example(tmp_path: Path) -> Path:
    return Path(shutil.copy(EXAMPLE, tmp_path / f"{ID}.yaml"))


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_what_ships_is_right() -> None:
    assert validate(knowledge.FOLDER).endswith("threats, no errors")


def test_a_complete_file_is_right(example: Path) -> None:
    assert validate(example.parent) == "1 threats, no errors"


@pytest.mark.parametrize(
    ("old", "new", "at", "reason"),
    [
        ("severity: medium", "severity: grave", "severity:", "severity: input should be 'crit"),
        ("version: 1.0.0", "version: 1", "version:", "version: input should be a valid string"),
        ("  tier: A", "  colour: red\n  tier: A", "colour:", "colour is not a known field"),
        ("CWE-367", "CWE-99999", "cwe:", "CWE has no CWE-99999"),
        ("API6:2023", "API77:2023", "owasp:", "OWASP has no API77:2023"),
        ("fix: Redeem", f"fix: {'Redeem' * 36}", "agent_summary:", "threat, check and fix have"),
        ("MIT-EXAMPLE-001a", "MIT-AB-001a", "id: MIT", "must be MIT-EXAMPLE-001 + a letter"),
        ("SELECT .*", "SELECT (", "pattern: SELECT", "it is not a valid regular expression"),
        ("code):", "code)", "vulnerable_code", "vulnerable_code is not python: line 1: expected"),
        ('WHERE code = ?", [code])', "", "vulnerable_code", "vulnerable_code is not python"),
        (
            "last_updated: 20",
            "last_updated: 2024-02-30 #",
            "last_",
            "2024-02-30 is not a valid timestamp",
        ),
        (
            "res.sendStatus(409);",
            "(",
            "# what is often written",
            "vulnerable_code is not javascript",
        ),
        ("import sqlite3", "import from", "test_code:", "test_code is not python: line 1"),
        (ID, "TMKB-EXAMPLE-002", "id: TMKB", "must be named TMKB-EXAMPLE-002.yaml"),
        (GENERALIZES, "generalizes_to: []\n", "threat_pattern:", "tier A needs generalizes_to"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(
    example: Path, old: str, new: str, at: str, reason: str
) -> None:
    change(example, old, new)
    said = [one for one in validate(example.parent).splitlines() if reason in one]

    assert len(said) == 1
    assert said[0].startswith(f"{ID}.yaml:{line_of(example, at)}: ")


@pytest.mark.parametrize(
    ("text", "language", "mistake"),
    [
        ("a: 1\nb: \x01", "yaml", "line 2: control characters are not allowed"),
        ("&a {x: *a}", "yaml", "line 1: it is nested too deeply, or contains itself"),
        ("a: !Ref b", "yaml", None),
        ("-" * 5500 + "1", "python", "line 1: it is nested too deeply"),
        ("a;\n" + "[" * 2000 + "a b" + "]" * 2000, "javascript", "line 2: it does not parse"),
        ("if (a) {\nlet b = ;\n}", "javascript", "line 2: it does not parse"),
    ],
)
def test_code_that_no_parser_can_read_is_told(
    text: str, language: str, mistake: str | None
) -> None:
    assert code.mistake_in(text, language) == mistake


def test_an_id_that_is_taken_is_refused(example: Path) -> None:
    (example.parent / "other").mkdir()
    shutil.copy(example, example.parent / "other")
    line = line_of(example, f"id: {ID}")

    assert validate(example.parent) == (f"other/{ID}.yaml:{line}: {ID} is the id of {ID}.yaml too")


def test_a_relation_to_nothing_is_refused(example: Path) -> None:
    relation = "[{id: TMKB-NONE-001, relationship: related, description: it is not there}]"
    change(example, "related_patterns: []", f"related_patterns: {relation}")

    assert "there is no other threat TMKB-NONE-001" in validate(example.parent)


@pytest.mark.parametrize("other", ["TMKB-AUTHZ-001", "TMKB-OTHER-001"])
def test_a_relation_to_what_ships_or_to_a_faulty_file_is_right(example: Path, other: str) -> None:
    relation = f"[{{id: {other}, relationship: related, description: it is there}}]"
    change(example, "related_patterns: []", f"related_patterns: {relation}")
    (example.parent / "TMKB-OTHER-001.yaml").write_text("threat_pattern: [", encoding="utf-8")

    assert "there is no other threat" not in validate(example.parent)


def test_a_file_that_would_not_be_read_is_said(example: Path) -> None:
    example.rename(example.with_suffix(".yml"))

    assert validate(example.parent) == f"{ID}.yml:1: it is ignored: its name must end in .yaml"


def test_a_folder_without_threats_is_said(tmp_path: Path) -> None:
    assert validate(tmp_path) == f"there are no threats in {tmp_path}"


def test_one_broken_file_does_not_hide_what_is_wrong_with_others(example: Path) -> None:
    (example.parent / "a.yaml").write_text("threat_pattern: [", encoding="utf-8")
    (example.parent / "b.yaml").write_text("threats: 1", encoding="utf-8")
    change(example, "severity: medium", "severity: grave")
    said = validate(example.parent).splitlines()

    assert [line.split(":")[0] for line in said] == [f"{ID}.yaml", "a.yaml", "b.yaml"]
    assert said[2] == "b.yaml:1: the one key at the top must be threat_pattern"


def test_a_folder_that_is_not_there_is_said() -> None:
    assert validate(Path("/nowhere")) == "there is no folder /nowhere"


def test_the_twelve_topics_of_authorization_and_more_ship() -> None:
    ids = {file.pattern.id for file in knowledge.read(knowledge.FOLDER)[0]}

    assert {f"TMKB-AUTHZ-{number:03}" for number in range(1, 13)} <= ids
    assert len(ids) >= 60


def test_each_language_and_framework_that_is_supported_has_code() -> None:
    examples = [
        example
        for file in knowledge.read(knowledge.FOLDER)[0]
        for mitigation in file.pattern.mitigations
        for example in mitigation.code_examples
    ]

    assert {example.language for example in examples} == set(SUPPORTED_LANGUAGES)
    assert {example.framework for example in examples} == set(SUPPORTED_FRAMEWORKS)


def test_ids_of_the_public_lists_are_as_they_are_written_everywhere() -> None:
    assert weaknesses.known("cwe")["CWE-862"] == "Missing Authorization"
    assert weaknesses.known("owasp")["API1:2023"] == "Broken Object Level Authorization"

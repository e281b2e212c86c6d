"""The regular expressions of shipped threats find what they describe, and little else."""

from collections.abc import Iterator

import pytest

from contextd import expressions
from threats import changed_files, knowledge, signs
from threats.schema import AutomatedCheck, CodeExample, ThreatPattern

PATTERNS = [file.pattern for file in knowledge.read(knowledge.FOLDER)[0]]
CHECKS = [(one, check) for one in PATTERNS for check in one.testing.automated_checks]
ADDED = [(one, check) for one, check in CHECKS if check.side == "added"]
REMOVED = [(one, check) for one, check in CHECKS if check.side == "removed"]
ORDINARY = """\
import re
from functools import lru_cache

@lru_cache
def mean(a, b):
    # convert both to metres first
    return (a + b) * 0.5

def month(line):
    found = re.search(r"(\\d+)-(\\d+)", line)
    return int(found[2]) if found else None
"""
COMPOSE = """\
services:
  web:
    image: nginx:latest
    command: ["gunicorn", "-b", "0.0.0.0:8000", "app"]
"""


def named(pair: tuple[ThreatPattern, AutomatedCheck]) -> str:
    return pair[0].id


def examples_of(pattern: ThreatPattern) -> Iterator[CodeExample]:
    for mitigation in pattern.mitigations:
        yield from mitigation.code_examples


@pytest.mark.parametrize(("pattern", "check"), ADDED, ids=map(named, ADDED))
def test_a_check_matches_vulnerable_code_and_never_secure_code(
    pattern: ThreatPattern, check: AutomatedCheck
) -> None:
    examples = list(examples_of(pattern))

    assert any(expressions.finds(check.pattern, one.vulnerable_code) for one in examples)
    assert [one for one in examples if expressions.finds(check.pattern, one.secure_code)] == []


@pytest.mark.parametrize(("pattern", "check"), REMOVED, ids=map(named, REMOVED))
def test_a_guard_stands_more_often_in_secure_code_than_in_the_vulnerable(
    pattern: ThreatPattern, check: AutomatedCheck
) -> None:
    assert any(
        expressions.count(check.pattern, one.secure_code)
        > expressions.count(check.pattern, one.vulnerable_code)
        for one in examples_of(pattern)
    )


@pytest.mark.parametrize("text", [ORDINARY, COMPOSE])
def test_ordinary_code_matches_no_check(text: str) -> None:
    assert [one.id for one, check in ADDED if expressions.finds(check.pattern, text)] == []


@pytest.mark.parametrize(
    ("key", "text", "is_found"),
    [
        ("MCP-003", "npx -y @acme/server@1.2.3", False),
        ("MCP-003", "npx -y @acme/server", True),
        ("MCP-003", '"command": "npx", "args": ["-y", "server"]', True),
        ("MCP-003", "uvx server==1.0", False),
        ("MCP-003", "uvx server", True),
        ("MCP-005", "subprocess.run(line, shell=True)", False),
        ("SUPPLY-001", "npm install left-pad", False),
        ("SUPPLY-001", "RUN npm install", True),
        ("TENANT-004", 'es.search(index="pages", query=query)', True),
        ("FILE-004", "# convert both to metres", False),
        ("DESER-003", "(a+b)*c", False),
        ("DESER-003", r"^([a-z]+\s?)+$", True),
        ("SECRET-001", "ENV SECRET_KEY=ab12cd34ef", True),
        ("SECRET-001", "  API_KEY: ab12cd34ef", True),
        ("SECRET-001", "SECRET_KEY=${SECRET_KEY}", False),
        ("SECRET-001", "TOKEN = settings.token", False),
    ],
)
def test_a_check_matches_what_it_describes(key: str, text: str, is_found: bool) -> None:
    checks = [check for one, check in ADDED if one.id == f"TMKB-{key}"]

    assert any(expressions.finds(check.pattern, text) for check in checks) is is_found


def test_a_check_that_matches_secure_code_weighs_less() -> None:
    (file,) = changed_files.in_diff(
        "--- a/x.py\n+++ b/x.py\n@@ -0,0 +1,2 @@\n+import re\n+eval(a)\n"
    )
    broad, narrow = (
        one.model_copy(update={"testing": only_check(expression)})
        for one, expression in zip(PATTERNS, [r"^import \w+", r"\beval\("], strict=False)
    )
    found = signs.by_expressions([file], [broad, narrow, *PATTERNS[2:]]).of["x.py"]
    strength = {sign.pattern.id: sign.strength for sign in found if "written" in sign.reason}

    assert strength[broad.id] < strength[narrow.id] / 2


def only_check(expression: str) -> object:
    check = AutomatedCheck(
        type="pattern", description="a test", pattern=expression, expectation="none"
    )
    return PATTERNS[0].testing.model_copy(update={"automated_checks": [check]})

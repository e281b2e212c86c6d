"""The shape of the project: what must stay true however much is added."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from contextd import operations, reference

ROOT: Path = settings.BASE_DIR
SNAPSHOT = ROOT / "tests/snapshots/operations.json"
LONGEST_FILE = 400
LONGEST_FUNCTION = 40


def sources() -> Iterator[Path]:
    for path in ROOT.rglob("*.py"):
        inside = path.relative_to(ROOT).parts
        if not inside[0].startswith(".") and "migrations" not in inside:
            yield path


def test_the_public_contract_changes_only_on_purpose() -> None:
    """Run `make snapshots` to accept a change; the diff is what reviewers read."""
    current = {operation.name: operation.contract() for operation in operations.installed()}
    assert current == json.loads(SNAPSHOT.read_text(encoding="utf-8"))


def test_generated_pages_are_up_to_date() -> None:
    """Run `make snapshots` to write them anew."""
    for path, text in reference.pages().items():
        assert path.read_text(encoding="utf-8") == text, path.name


def test_no_file_has_become_a_god_file() -> None:
    long = {str(p): n for p in sources() if (n := len(p.read_text().splitlines())) > LONGEST_FILE}
    assert not long


def test_no_function_has_grown_too_long_to_read() -> None:
    long = {
        f"{path.name}:{node.name}"
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION
    }
    assert not long


def test_no_file_has_a_name_that_says_nothing() -> None:
    nameless = {"utils.py", "helpers.py", "common.py", "core.py", "base.py", "misc.py"}
    assert not {str(path) for path in sources() if path.name in nameless}

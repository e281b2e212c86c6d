"""The shape of the project: invariants that every change must keep."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from contextd import operations, reference

ROOT: Path = settings.BASE_DIR
SNAPSHOT = ROOT / "tests/snapshots/operations.json"
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 40


def sources() -> Iterator[Path]:
    yield from ROOT.glob("*.py")
    for folder in ROOT.glob("[!.]*/"):  # hidden ones hold environments, which take seconds to walk
        yield from (path for path in folder.rglob("*.py") if "migrations" not in path.parts)


def test_the_public_contract_changes_only_on_purpose() -> None:
    """Run `make snapshots` to accept a change; the diff is what reviewers read."""
    current = {operation.name: operation.contract() for operation in operations.installed()}
    assert current == json.loads(SNAPSHOT.read_text(encoding="utf-8"))


def test_generated_pages_are_up_to_date() -> None:
    """Run `make snapshots` to write them again."""
    for path, text in reference.pages().items():
        assert path.read_text(encoding="utf-8") == text, path.name


def test_no_file_is_too_long() -> None:
    long = {str(p): n for p in sources() if (n := len(p.read_text().splitlines())) > MAX_FILE_LINES}
    assert not long


def test_no_function_is_too_long() -> None:
    long = {
        f"{path.name}:{node.name}"
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= MAX_FUNCTION_LINES
    }
    assert not long


def test_no_file_has_a_meaningless_name() -> None:
    nameless = {"utils.py", "helpers.py", "common.py", "core.py", "base.py", "misc.py"}
    assert not {str(path) for path in sources() if path.name in nameless}

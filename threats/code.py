"""Check code for syntax errors with its language's parser."""

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from contextd import syntax, yaml_files
from contextd.syntax import TooHard
from contextd.yaml_files import Faulty

if TYPE_CHECKING:
    from tree_sitter import Node


def mistake_in(text: str, language: str) -> str | None:
    """Return the first error with its line within the text, or None."""
    return _PARSERS[language](text)


def _in_python(text: str) -> str | None:
    try:
        ast.parse(text)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (RecursionError, MemoryError):
        return "line 1: it is nested too deeply"
    return None


def _in_yaml(text: str) -> str | None:
    try:
        yaml_files.compose(text, "yaml")
    except Faulty as faulty:
        first = faulty.complaints[0]
        return f"line {first.line}: {first.reason}"
    return None


def _in_javascript(text: str) -> str | None:
    try:
        root = syntax.root_of(text, "javascript")
    except TooHard:
        return "line 1: it is too complex to parse"
    if not root.has_error:
        return None
    return f"line {_first_error(root).start_point.row + 1}: it does not parse"


def _first_error(node: "Node") -> "Node":
    while faulty := [child for child in node.children if child.has_error or child.is_missing]:
        node = faulty[0]
        if node.is_error or node.is_missing:
            break
    return node


_PARSERS: dict[str, Callable[[str], str | None]] = {
    "python": _in_python,
    "javascript": _in_javascript,
    "yaml": _in_yaml,
}

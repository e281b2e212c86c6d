"""Whether code is code: what its language's parser has against it."""

import ast
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


def mistake_in(text: str, language: str) -> str | None:
    """The first mistake with its line, counted within the text; None where there is none."""
    return _PARSERS[language](text)


def _in_python(text: str) -> str | None:
    try:
        ast.parse(text)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    return None


def _in_yaml(text: str) -> str | None:
    try:
        yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        return f"line {line}: {error.problem}"
    return None


def _in_javascript(text: str) -> str | None:
    root = _javascript().parse(text.encode()).root_node
    if not root.has_error:
        return None
    return f"line {_first_error(root).start_point.row + 1}: it does not parse"


def _first_error(node: "Node") -> "Node":
    for child in node.children:
        if child.is_error or child.is_missing or child.has_error:
            return child if child.is_error or child.is_missing else _first_error(child)
    return node


@cache
def _javascript() -> "Parser":
    from tree_sitter_language_pack import get_parser

    return get_parser("javascript")


_PARSERS: dict[str, Callable[[str], str | None]] = {
    "python": _in_python,
    "javascript": _in_javascript,
    "yaml": _in_yaml,
}

"""Reads shell scripts: which programs they start, with what arguments."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from tree_sitter import Node, Parser

LONGEST = 20_000
_QUOTED = {"raw_string", "ansi_c_string"}
_ARGUMENTS = {
    "word", "number", "string", "raw_string", "ansi_c_string", "concatenation", "expansion",
    "simple_expansion", "command_substitution", "process_substitution", "translated_string",
}  # fmt: skip
_ESCAPED = str.maketrans("", "", "\\")


@dataclass(frozen=True, slots=True)
class Invocation:
    """One program with its arguments, quotes taken off.

    `writes_to` are the files its output replaces, `reads` the text given to it (a here document),
    `fed_by` the program whose output it reads.
    """

    program: str
    arguments: tuple[str, ...] = ()
    writes_to: tuple[str, ...] = ()
    reads: str = ""
    fed_by: str = ""

    @property
    def options(self) -> frozenset[str]:
        """`-rf --force=x` are `-r`, `-f` and `--force`; those of programs with one dash also whole.

        What follows `--` is none.
        """
        given = list(self.arguments)
        before = given[: given.index("--")] if "--" in given else given
        found: set[str] = set()
        for argument in before:
            if argument.startswith("--"):
                found.add(argument.partition("=")[0])
            elif argument.startswith("-") and len(argument) > 1:
                found |= {argument, *(f"-{letter}" for letter in argument[1:])}
        return frozenset(found)

    @property
    def operands(self) -> tuple[str, ...]:
        return tuple(word for word in self.arguments if not word.startswith("-"))

    def after(self, count: int) -> "Invocation | None":
        """What is started by this one, as `sudo` and `env` do: the arguments from there on."""
        rest = self.arguments[count:]
        return _named(rest, self) if rest else None


@dataclass(slots=True)
class _Surroundings:
    """What stands around a command and belongs to it."""

    writes_to: list[str] = field(default_factory=list)
    reads: str = ""
    fed_by: str = ""


def invocations(script: str) -> list[Invocation]:
    """Also those in substitutions, functions and loops; broken scripts give what can be read."""
    root = _parser().parse(script[:LONGEST].encode("utf-8", "replace")).root_node
    return list(_started(root, _Surroundings()))


@cache
def _parser() -> Parser:
    from tree_sitter_language_pack import get_parser

    return get_parser("bash")


def _started(node: Node, around: _Surroundings) -> Iterator[Invocation]:
    if node.type == "redirected_statement":
        around = _redirected(node, around)
    if node.type == "command":
        yield _invocation(node, around)
    elif node.type == "redirected_statement" and not node.child_by_field_name("body"):
        yield Invocation("", (), tuple(around.writes_to))
    fed_by = ""
    for child in node.children:
        inner = around if child.type in {"command", "redirected_statement", "list"} else None
        inner = inner or _Surroundings()
        if node.type == "pipeline" and child.is_named:
            inner = _Surroundings(inner.writes_to, inner.reads, fed_by)
            fed_by = _first_program(child) or fed_by
        yield from _started(child, inner)


def _redirected(node: Node, around: _Surroundings) -> _Surroundings:
    redirected = _Surroundings(list(around.writes_to), around.reads, around.fed_by)
    for child in node.children:
        if child.type == "file_redirect" and any(
            c.type in {">", ">|", "&>"} for c in child.children
        ):
            target = child.child_by_field_name("destination")
            redirected.writes_to += [_text(target)] if target else []
        elif child.type in {"heredoc_redirect", "herestring_redirect"}:
            redirected.reads += "".join(
                _text(part) for part in child.children if part.type in {"heredoc_body", *_ARGUMENTS}
            )
    return redirected


def _invocation(node: Node, around: _Surroundings) -> Invocation:
    words = [
        _text(child.children[0] if child.type == "command_name" and child.children else child)
        for child in node.children
        if child.type == "command_name" or child.type in _ARGUMENTS
    ]
    outer = Invocation("", (), tuple(around.writes_to), around.reads, around.fed_by)
    return _named(words, outer)


def _named(words: "list[str] | tuple[str, ...]", outer: Invocation) -> Invocation:
    program = words[0].rpartition("/")[2] if words else ""
    return Invocation(program, tuple(words[1:]), outer.writes_to, outer.reads, outer.fed_by)


def _first_program(node: Node) -> str:
    return next((found.program for found in _started(node, _Surroundings())), "")


def _text(node: Node) -> str:
    """As the program is given it, except that variables stay as they are written."""
    printed = (node.text or b"").decode("utf-8", "replace")
    if node.type in _QUOTED:
        return printed.lstrip("$").strip("'")
    if node.type == "string":
        return printed[1:-1] if printed.endswith('"') else printed[1:]
    if node.type == "concatenation":
        return "".join(_text(child) for child in node.children)
    return printed.translate(_ESCAPED) if node.type == "word" else printed

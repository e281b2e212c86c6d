"""Reads shell scripts: which programs they start, with what arguments."""

from collections.abc import Container
from dataclasses import dataclass, replace

from tree_sitter import Node

from contextd import syntax

MAX_LENGTH = 20_000
MAX_PARSE_SECONDS = 1.0
MAX_PASSES = 50
"""So many parts of a command are looked at for the one that it begins with."""

_QUOTED = {"raw_string", "ansi_c_string"}
_ARGUMENTS = {
    "word", "number", "string", "raw_string", "ansi_c_string", "concatenation", "expansion",
    "simple_expansion", "command_substitution", "process_substitution", "translated_string",
}  # fmt: skip
_SAME_SURROUNDINGS = {"command", "redirected_statement", "list", "pipeline"}
_ESCAPED = str.maketrans("", "", "\\")


@dataclass(frozen=True, slots=True)
class Invocation:
    """One program with its arguments, quotes taken off.

    `writes_to` are the files its output replaces, `reads` the text given to it (a here document or
    what `echo` prints), `fed_by` the program whose output it reads.
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

    def words(self, with_value: Container[str]) -> tuple[str, ...]:
        """Its operands, but for the values of these options."""
        pairs = zip(("", *self.arguments), self.arguments, strict=False)
        return tuple(
            word for last, word in pairs if not word.startswith("-") and last not in with_value
        )

    def after(self, count: int) -> "Invocation | None":
        """What is started by this one, as `sudo` and `env` do: the arguments from there on."""
        rest = self.arguments[count:]
        return _named(rest, self) if rest else None


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What stands around a command and belongs to it."""

    writes_to: tuple[str, ...] = ()
    reads: str = ""
    fed_by: str = ""


def invocations(script: str) -> list[Invocation]:
    """Also those in substitutions, functions and loops; broken scripts give what can be read.

    Raises syntax.TooHard.
    """
    root = syntax.root_of(script[:MAX_LENGTH], syntax.BASH, seconds=MAX_PARSE_SECONDS)
    found: list[Invocation] = []
    waiting = [(root, _Surroundings())]  # not recursion: scripts may be nested as deep as they like
    while waiting:
        node, around = waiting.pop()
        if node.type == "redirected_statement":
            around = _redirected(node, around)
            if not node.child_by_field_name("body"):
                found.append(Invocation("", (), around.writes_to))
        elif node.type == "command":
            found.append(_invocation(node, around))
        waiting += reversed(_within(node, around))
    return found


def _within(node: Node, around: _Surroundings) -> list[tuple[Node, _Surroundings]]:
    """Its children, each with what belongs to it."""
    if node.type == "pipeline":
        return _stages(node, around)
    if node.type == "heredoc_redirect":
        return [(child, around) for child in node.children]
    body = node.child_by_field_name("body") if node.type == "redirected_statement" else None
    # What follows in the pipeline stands inside the here document of its first command.
    fed = _fed_by(body, around) if body else _Surroundings()
    return [
        (child, fed if child.type == "heredoc_redirect" else _of_child(child, around))
        for child in node.children
    ]


def _of_child(child: Node, around: _Surroundings) -> _Surroundings:
    return around if child.type in _SAME_SURROUNDINGS else _Surroundings()


def _stages(pipeline: Node, around: _Surroundings) -> list[tuple[Node, _Surroundings]]:
    """The first is given what feeds the pipeline, the last what is redirected."""
    *commands, last = [child for child in pipeline.children if child.is_named] or [pipeline]
    stages, given = [], replace(around, writes_to=()) if around.fed_by else _Surroundings()
    for command in commands:
        stages.append((command, given))
        given = _fed_by(command, given)
    own = around.reads if not around.fed_by else ""
    return [*stages, (last, _Surroundings(around.writes_to, own or given.reads, given.fed_by))]


def _fed_by(stage: Node, around: _Surroundings) -> _Surroundings:
    """What the next command of a pipeline is given by this one."""
    first = _first_command(stage)
    if first is None:
        return _Surroundings(fed_by=around.fed_by)
    if stage.type == "redirected_statement":
        around = _redirected(stage, around)
    command = _invocation(first, around)
    return _Surroundings(reads=_printed(command), fed_by=command.program or around.fed_by)


def _first_command(node: Node) -> Node | None:
    waiting = [node]
    for _ in range(MAX_PASSES):
        if not waiting:
            break
        found = waiting.pop()
        if found.type == "command":
            return found
        waiting += reversed(found.children)
    return None


def _printed(command: Invocation) -> str:
    """Return the value, as far as it is known without running the script."""
    if command.program in {"echo", "printf"}:
        return " ".join(command.operands).replace("\\n", "\n")
    return command.reads if command.program in {"cat", "tee"} else ""


def _redirected(node: Node, around: _Surroundings) -> _Surroundings:
    writes_to, reads = list(around.writes_to), around.reads
    for child in node.children:
        if child.type == "file_redirect" and any(
            c.type in {">", ">|", "&>"} for c in child.children
        ):
            target = child.child_by_field_name("destination")
            writes_to += [_text(target)] if target else []
        reads += _given(child)
    return _Surroundings(tuple(writes_to), reads, around.fed_by)


def _given(redirection: Node) -> str:
    """The text of a here document or a here string."""
    if redirection.type not in {"heredoc_redirect", "herestring_redirect"}:
        return ""
    parts = {"heredoc_body", *_ARGUMENTS}
    return "".join(_text(part) for part in redirection.children if part.type in parts)


def _invocation(node: Node, around: _Surroundings) -> Invocation:
    words = [
        _text(child.children[0] if child.type == "command_name" and child.children else child)
        for child in node.children
        if child.type == "command_name" or child.type in _ARGUMENTS
    ]
    reads = around.reads + "".join(map(_given, node.children))
    return _named(words, Invocation("", (), around.writes_to, reads, around.fed_by))


def _named(words: "list[str] | tuple[str, ...]", outer: Invocation) -> Invocation:
    program = words[0].rpartition("/")[2] if words else ""
    return Invocation(program, tuple(words[1:]), outer.writes_to, outer.reads, outer.fed_by)


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

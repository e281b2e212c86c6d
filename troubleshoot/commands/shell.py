"""Reads shell scripts: which programs they start, with what arguments."""

import re
from collections.abc import Callable, Container
from dataclasses import dataclass, replace

from tree_sitter import Node

from contextd import syntax

MAX_LENGTH = 20_000
MAX_PARSE_SECONDS = 1.0
MAX_PASSES = 50
"""Limit of the nodes that are searched for the first command of a pipeline's stage."""

_QUOTED = {"raw_string", "ansi_c_string"}
_ARGUMENTS = {
    "word", "number", "string", "raw_string", "ansi_c_string", "concatenation", "expansion",
    "simple_expansion", "command_substitution", "process_substitution", "translated_string",
}  # fmt: skip
_SAME_SURROUNDINGS = {"command", "redirected_statement", "list", "pipeline"}
_ESCAPED = str.maketrans("", "", "\\")
# Documentation writes `<folder>`, which a shell reads as a redirection.
_PLACEHOLDER = re.compile(r"(?<!<)<([A-Za-z](?:[\w./ -]{0,40}\w)?)>")
# `python3.12`, `php8.2`, `mkfs.ext4`
_VARIANT = re.compile(r"(python|pip|ruby|php|perl|node)[\d.]+|(mkfs)\.\w+")


@dataclass(frozen=True, slots=True)
class Invocation:
    """One program with its arguments, without quotes.

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
        """Return `-r`, `-f` and `--force` of `-rf --force=x`, and `-rf` as some programs read it.

        Nothing behind `--` is an option.
        """
        found: set[str] = set()
        for argument in self.arguments[: self._end_of_options]:
            if argument.startswith("--"):
                found.add(argument.partition("=")[0])
            elif argument.startswith("-") and len(argument) > 1:
                found |= {argument, *(f"-{letter}" for letter in argument[1:])}
        return frozenset(found)

    def uses(self, *options: str) -> bool:
        """Return whether it has one of the options, which GNU programs and git let abbreviate.

        `--outp=x` counts as `--output`.
        """
        given = self.options
        started = {one for one in given if one.startswith("--") and len(one) > len("--")}
        return any(option in given or any(map(option.startswith, started)) for option in options)

    @property
    def operands(self) -> tuple[str, ...]:
        behind = self.arguments[self._end_of_options + 1 :]
        return (*self.words(lambda option: False), *behind)

    @property
    def _end_of_options(self) -> int:
        return self.arguments.index("--") if "--" in self.arguments else len(self.arguments)

    def words(self, takes_value: Callable[[str], bool]) -> tuple[str, ...]:
        """Return the operands before `--`, except the values of options."""
        before = self.arguments[: self._end_of_options]
        pairs = zip(("", *before), before, strict=False)
        return tuple(
            word
            for last, word in pairs
            if not word.startswith("-") and not (last.startswith("-") and takes_value(last))
        )

    def after(self, count: int) -> "Invocation | None":
        """Return the command that starts at this argument, as `sudo` and `env` run it."""
        rest = self.arguments[count:]
        return _named(rest, self) if rest else None


def takes_value(option: str, with_value: Container[str]) -> bool:
    """Whether the next word is its value; of `-iu` the letters before the last take none."""
    if option.startswith("--") or option in with_value:
        return option in with_value
    valued = (place for place, letter in enumerate(option) if f"-{letter}" in with_value)
    return next(valued, -1) == len(option) - 1


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """The redirections and the pipeline that a command belongs to."""

    writes_to: tuple[str, ...] = ()
    reads: str = ""
    fed_by: str = ""


def invocations(script: str) -> list[Invocation]:
    """Return all commands, also in substitutions, functions, loops and broken scripts.

    Raise syntax.TooHard.
    """
    readable = _PLACEHOLDER.sub(lambda found: found[1].replace(" ", "_"), script[:MAX_LENGTH])
    root = syntax.root_of(readable, syntax.BASH, seconds=MAX_PARSE_SECONDS)
    code = root.text or b""
    found: list[Invocation] = []
    waiting = [(root, _Surroundings())]  # not recursion: scripts may be nested as deep as they like
    while waiting:
        node, around = waiting.pop()
        if node.type == "redirected_statement":
            around = _redirected(node, around)
            if not node.child_by_field_name("body"):
                found.append(Invocation(_empty_command(code, node), (), around.writes_to))
        elif node.type == "command":
            found.append(_invocation(node, around))
        waiting += reversed(_within(node, around))
    return found


def _empty_command(code: bytes, redirection: Node) -> str:
    """Return `:` for `> app.log`, but not for a part of other code, such as `() => x`."""
    line = code[: redirection.start_byte].rpartition(b"\n")[2].rstrip()
    return ":" if not line or line.endswith((b";", b"&", b"|", b"(", b"{")) else ""


def _within(node: Node, around: _Surroundings) -> list[tuple[Node, _Surroundings]]:
    """Return its children, each with its surroundings."""
    if node.type == "pipeline":
        return _stages(node, around)
    if node.type == "heredoc_redirect":
        return [(child, around) for child in node.children]
    body = node.child_by_field_name("body") if node.type == "redirected_statement" else None
    # The grammar puts the rest of a pipeline into the here document of its first command.
    fed = _fed_by(body, around) if body else _Surroundings()
    return [
        (child, fed if child.type == "heredoc_redirect" else _of_child(child, around))
        for child in node.children
    ]


def _of_child(child: Node, around: _Surroundings) -> _Surroundings:
    return around if child.type in _SAME_SURROUNDINGS else _Surroundings()


def _stages(pipeline: Node, around: _Surroundings) -> list[tuple[Node, _Surroundings]]:
    """Give the first command the input of the pipeline, and the last one its redirections."""
    *commands, last = [child for child in pipeline.children if child.is_named] or [pipeline]
    stages, given = [], replace(around, writes_to=()) if around.fed_by else _Surroundings()
    for command in commands:
        stages.append((command, given))
        given = _fed_by(command, given)
    own = around.reads if not around.fed_by else ""
    return [*stages, (last, _Surroundings(around.writes_to, own or given.reads, given.fed_by))]


def _fed_by(stage: Node, around: _Surroundings) -> _Surroundings:
    """Return what this command passes to the next one of a pipeline."""
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
    """Return the text of a here document or a here string."""
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
    program = program_name(words[0]) if words else ""
    return Invocation(program, tuple(words[1:]), outer.writes_to, outer.reads, outer.fed_by)


def program_name(word: str) -> str:
    """Return it without folder, version and `.exe`."""
    name = word.replace("\\", "/").rpartition("/")[2]
    if name.lower().endswith(".exe"):
        name = name.lower().removesuffix(".exe")
    variant = _VARIANT.fullmatch(name)
    return (variant[1] or variant[2]) if variant else name


def _text(node: Node) -> str:
    """Return it as the program receives it, except that variables are not replaced."""
    printed = (node.text or b"").decode("utf-8", "replace")
    if node.type in _QUOTED:
        return printed.lstrip("$").strip("'")
    if node.type == "string":
        return printed[1:-1] if printed.endswith('"') else printed[1:]
    if node.type == "concatenation":
        return "".join(_text(child) for child in node.children)
    return printed.translate(_ESCAPED) if node.type == "word" else printed

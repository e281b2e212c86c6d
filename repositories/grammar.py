"""Find definitions and starts of statements in code with its tree-sitter grammar."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from contextd import syntax
from contextd.syntax import TooHard
from repositories import definitions, heads
from repositories.definitions import BINDINGS, LISTED, NAMES, PATTERNED, WRAPPERS

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_NAME_CHARACTERS = 200
MAX_NESTED = 50
MAX_SECONDS = 10
"""CPU time of the walk through a tree; definitions that it does not reach are left out."""

# Outside of functions these bind a name that other files may use.
_VARIABLES = """
assignment assignment_statement variable_declarator public_field_definition field_definition
const_spec var_spec const_item static_item const_element preproc_def preproc_function_def
declaration field_declaration property_declaration val_definition var_definition
variable_assignment static_final_declaration constant_declaration const_declaration
const_statement const_declarator const_definition variable_statement manifest_declarator
declarator global_declaration global_var_declarations initialized_identifier
constant_variable_declaration state_variable_declaration
"""
VARIABLES = frozenset(_VARIABLES.split())
# These may contain one of the above, even on a single line.
_DECLARING = """
expression_statement const_declaration var_declaration var_spec_list field_declaration
variable_declaration lexical_declaration export_statement declaration_command class_body
field_declaration_list declaration_list declaration static_final_declaration_list block
assignment_expression object statement manifest_constant initialized_identifier_list definition
type_system_definition type_definition type_system_extension type_extension executable_definition
namespace_definition ERROR class_definition class_declarations protocol_body interface_type
struct_type
"""
DECLARING = frozenset(_DECLARING.split())
DECLARATORS = frozenset({"init_declarator", "pointer_declarator", "array_declarator"})
LISTS = frozenset({"pattern_list", "tuple_pattern", "variable_list", "variable_declaration"})
VALUES = NAMES - {"type_identifier"}
_LOCAL = re.compile(
    r"function|method|lambda|arrow|closure|constructor|subroutine|accessor|clause"
    r"|procedure|subprogram|task|unittest"
)
_MAY_DECLARE = re.compile(
    r"declar|defini|defn|item|statement|section|member|field|fragment|command|rule|unit|element"
    r"|^code$"
)
# In these languages, variables are local inside of such nodes only.
CLOSED = {"gn": "block", "nix": "binding", "ninja": "body", "scss": "rule_set"}
BODIES = frozenset({"block", "compound_statement", "declaration_list"})
MEMBERS = "type_extension_elements"
"""Members of a type in F#, often on a single line."""
_SCOPE = re.compile(r"module|package|namespace|class|architecture|program")
_CONSTANT = re.compile(r"k?[A-Z]\w*")
_CONSTANT_WORDS = re.compile(r"(?:\w+\s+)*?(?:const|static|final|readonly)\b")
_IDENTIFIER = re.compile(r"\$?([^\W\d]\w*)")


@dataclass(slots=True)
class Definition:
    """A named definition, its lines (counted from 0) and the definitions inside it."""

    name: str
    first: int
    last: int
    level: int = 0
    children: "list[Definition]" = field(default_factory=list)

    def names(self) -> Iterator[str]:
        """Yield its own name and those inside."""
        if self.name:
            yield self.name
        for child in self.children:
            yield from child.names()

    def qualify(self, name: str) -> str:
        """Return the name of something inside."""
        return (f"{self.name}.{name}" if self.name else name)[-MAX_NAME_CHARACTERS:]


@dataclass(frozen=True, slots=True)
class Outline:
    """The whole text as an unnamed definition; `starts` maps first lines of statements to their
    depth; `variables` are constants and variables outside of functions."""

    whole: Definition
    starts: dict[int, int]
    variables: list[str] = field(default_factory=list)
    is_complete: bool = True


def outline(text: str, language: str) -> Outline:
    """Outline the text; code that cannot be parsed has fewer definitions, and is no error."""
    whole = Definition("", 0, text.count("\n"))
    starts: dict[int, int] = {}
    try:
        root = syntax.root_of(text, heads.GRAMMARS.get(language, language))
    except TooHard:
        return Outline(whole, starts, is_complete=False)
    read = definitions.reader(root, language)
    variables: list[str] = []
    owner, beside = whole, _Beside(whole, language)
    if root.type in heads.ROOTS and (named := _definition(root, whole, read(root)[0])):
        whole.children.append(named)
        owner = named
    waiting = [(child, 0, owner, False) for child in reversed(root.named_children)]
    until = time.thread_time() + MAX_SECONDS
    while waiting and time.thread_time() < until:
        node, depth, owner, is_local = waiting.pop()
        owner = beside.owner_of(node, owner, depth)
        starts.setdefault(node.start_point[0], depth)
        name, variable = read(node)
        defined = _definition(node, owner, name)
        if defined:
            owner.children.append(defined)
            beside.add(node, defined, depth)
        elif not is_local:
            variables += [owner.qualify(variable)] if variable else _variables(node, owner)
        if _is_open(node, language, is_local, bool(defined)):
            is_local = is_local or _is_closed(node, language, bool(defined))
            inside = reversed(node.named_children)
            waiting += [(child, depth + 1, defined or owner, is_local) for child in inside]
    if language in heads.LABELS:
        _reach(whole)
    beside.end(whole.last)
    return Outline(whole, starts, variables, is_complete=not waiting)


def _reach(owner: Definition) -> None:
    """Extend each definition inside to the next one."""
    for child, following in pairwise(owner.children):
        child.last = max(child.last, following.first - 1)
    for child in owner.children[-1:]:
        child.last = max(child.last, owner.last)
    for child in owner.children:
        _reach(child)


class _Beside:
    """Finds the definition of a node that follows it, instead of being inside."""

    def __init__(self, whole: Definition, language: str) -> None:
        self._whole, self._is_dart = whole, language == "dart"
        self._opened: Definition | None = None

    def owner_of(self, node: "Node", owner: Definition, depth: int) -> Definition:
        """Return the definition to which the node belongs; `owner` is the one around it."""
        if self._is_dart and node.type == "function_body" and owner.children:
            signature = owner.children[-1]
            signature.last = max(signature.last, node.end_point[0])
            return signature
        if depth == 0 and node.type in heads.OPENING:
            self.end(node.start_point[0] - 1)
        return self._opened or owner if owner is self._whole else owner

    def add(self, node: "Node", defined: Definition, depth: int) -> None:
        """Let a package without a body begin, if the node is one."""
        if depth == 0 and node.type in heads.OPENING:
            self._opened = None if node.named_children[-1].type in BODIES else defined

    def end(self, last: int) -> None:
        """End the current package at that line."""
        if self._opened:
            self._opened.last = max(self._opened.last, last)
        self._opened = None


def _is_open(node: "Node", language: str, is_local: bool, is_definition: bool) -> bool:
    """Return whether it may contain relevant statements or names."""
    if node.start_point[0] != node.end_point[0] or node.type in WRAPPERS or node.type in BINDINGS:
        return True
    if is_local:
        return node.type == MEMBERS
    if node.type in DECLARING or is_definition:
        return True
    return language not in LISTED and bool(_MAY_DECLARE.search(node.type))


def _is_closed(node: "Node", language: str, is_definition: bool) -> bool:
    """Return whether variables inside are local."""
    if node.type == CLOSED.get(language) or (language not in CLOSED and _LOCAL.search(node.type)):
        return True
    return is_definition and language not in LISTED | PATTERNED and not _SCOPE.search(node.type)


def _variables(node: "Node", owner: Definition) -> Iterator[str]:
    """Yield the names it binds; within a class only constants."""
    if node.type not in VARIABLES:
        return
    for name in _bound(node):
        if not owner.name or _CONSTANT.fullmatch(name) or _is_called_constant(node):
            yield owner.qualify(name)


def _is_called_constant(node: "Node") -> bool:
    """Detect a keyword such as `final`, which may be two levels above."""
    outer: Node | None = node
    for _ in range(3):
        # Not the text of a whole class, for each of its fields.
        if outer is None or node.start_byte - outer.start_byte > MAX_NAME_CHARACTERS:
            return False
        if _CONSTANT_WORDS.match(definitions.text_of(outer)[:MAX_NAME_CHARACTERS]):
            return True
        outer = outer.parent
    return False


def _bound(node: "Node") -> Iterator[str]:
    for part in ("name", "left", "property", "pattern", "declarator"):
        if targets := node.children_by_field_name(part):
            for target in targets:
                yield from _identifiers(target)
            return
    named = (child for child in node.named_children if child.type in VALUES | LISTS)
    if first := next(named, None):
        yield from _identifiers(first)


def _identifiers(target: "Node") -> Iterator[str]:
    """Yield plain names, even several; none of a call, an index or a C function."""
    waiting = [target]
    while waiting:
        node = waiting.pop()
        if node.type in DECLARATORS:
            inner = node.child_by_field_name("declarator")
            waiting += [] if inner is None else [inner]
        elif node.type in LISTS:
            inside = [one for one in node.named_children if one.type in NAMES | LISTS]
            waiting += reversed(inside)
        elif found := _IDENTIFIER.fullmatch(definitions.text_of(node)):
            yield found[1]


def _definition(node: "Node", owner: Definition, name: str) -> Definition | None:
    if not name or owner.level == MAX_NESTED:
        return None
    outer = node
    while outer.parent is not None and outer.parent.type in WRAPPERS:
        outer = outer.parent
    is_head = owner.first == outer.start_point[0] and f".{owner.name}".endswith(f".{name}")
    if is_head:  # the name of the enclosing node
        return None
    last = node.end_point[0] - (node.end_point[1] == 0)
    return Definition(owner.qualify(name), outer.start_point[0], last, level=owner.level + 1)

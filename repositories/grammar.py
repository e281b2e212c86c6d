"""Find definitions and starts of statements in code with its tree-sitter grammar."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from contextd import syntax
from contextd.syntax import TooHard
from repositories import heads

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_NAME_CHARACTERS = 200
MAX_NESTED = 50

_LANGUAGES = """
bash c cpp csharp dart elixir elm erlang go graphql groovy haskell hcl java javascript julia
kotlin lua objc ocaml ocaml_interface pascal perl php powershell proto python r ruby rust
scala solidity sql swift tsx typescript zig
"""
LANGUAGES = frozenset(_LANGUAGES.split())
_DEFINITIONS = """
function_definition function_declaration function_item function_statement function_signature
function_signature_item generator_function_declaration function function_clause method_definition
method_declaration method singleton_method constructor_declaration init_declaration
property_declaration property_signature method_signature class_definition class_declaration
abstract_class_declaration class_specifier class class_interface class_implementation
object_definition object_declaration companion_object struct_declaration struct_item
struct_specifier union_item union_specifier record_declaration enum_declaration enum_definition
enum_item enum_specifier enum interface_declaration protocol_declaration trait_declaration
trait_definition trait_item impl_item type_spec type_alias_declaration type_item type_alias
type_definition annotation_type_declaration module module_definition mod_item
namespace_declaration namespace_definition internal_module macro_definition contract_declaration
library_declaration modifier_definition subroutine_declaration_statement type_binding
module_binding message service rpc object_type_definition interface_type_definition
input_object_type_definition enum_type_definition create_table create_function create_view
decl_function
"""
DEFINITIONS = frozenset(_DEFINITIONS.split())
# These are definitions if their value is a function or a class.
BINDINGS = frozenset({"variable_declarator", "public_field_definition", "field_definition"})
FUNCTIONS = frozenset(
    {"arrow_function", "function_expression", "generator_function", "function", "class"}
)
_WRAPPERS = """
decorated_definition export_statement template_declaration lexical_declaration
variable_declaration type_declaration ambient_declaration declaration_list
value_definition type_definition
"""
WRAPPERS = frozenset(_WRAPPERS.split())
_NAMES = """
identifier type_identifier simple_identifier field_identifier property_identifier constant name
function_name message_name service_name enum_name rpc_name object_reference word variable_name
"""
NAMES = frozenset(_NAMES.split())
# JavaScript also binds functions to properties: `exports.go = () => 1`, `{go: function () {}}`.
SCRIPTS = frozenset({"javascript", "typescript", "tsx"})
ASSIGNMENTS = {"assignment_expression": ("left", "right"), "pair": ("key", "value")}
# Languages in which every definition is a call or a block.
GENERAL = {"elixir": "call", "hcl": "block"}
CALLS_THAT_DEFINE = {"def", "defp", "defmodule", "defmacro", "defprotocol", "defimpl"}


# Outside of functions these bind a name that other files may use.
_VARIABLES = """
assignment assignment_statement variable_declarator public_field_definition field_definition
const_spec var_spec const_item static_item const_element preproc_def preproc_function_def
declaration field_declaration property_declaration val_definition var_definition
variable_assignment static_final_declaration
"""
VARIABLES = frozenset(_VARIABLES.split())
# These may contain one of the above, even on a single line.
_DECLARING = """
expression_statement const_declaration var_declaration var_spec_list field_declaration
variable_declaration lexical_declaration export_statement declaration_command class_body
field_declaration_list declaration_list declaration static_final_declaration_list block
assignment_expression object statement
"""
DECLARING = frozenset(_DECLARING.split())
LISTS = frozenset({"pattern_list", "tuple_pattern", "variable_list", "variable_declaration"})
_LOCAL = re.compile(r"function|method|lambda|arrow|closure|constructor|subroutine|accessor|clause")
_CONSTANT = re.compile(r"k?[A-Z]\w*")
_CONSTANT_WORDS = re.compile(r"(?:\w+\s+)*?(?:const|static|final|readonly)\b")
_RECEIVER = re.compile(r"(\w+)\s*(?:\[[^\]]*\])?\s*,?\s*\)$")
"""Matches the receiver type of a Go method."""
_IDENTIFIER = re.compile(r"\$?([^\W\d]\w*)")
_EXPORTS = re.compile(r"(?:module\.)?exports\.")
_IMPLIED = re.compile(r"^(?:(?:module\.)?exports(?:\.|$)|this\.)|\bprototype\.")
_PROPERTY = re.compile(r"[\w$.#]+")


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


@dataclass(frozen=True, slots=True)
class Outline:
    """The whole text as an unnamed definition; `starts` maps first lines of statements to their
    depth; `variables` are constants and variables outside of functions."""

    whole: Definition
    starts: dict[int, int]
    variables: list[str] = field(default_factory=list)


def outline(text: str, language: str) -> Outline:
    """Outline the text; code that cannot be parsed has fewer definitions, and is no error."""
    whole = Definition("", 0, text.count("\n"))
    starts: dict[int, int] = {}
    try:
        root = syntax.root_of(text, language)
    except TooHard:
        return Outline(whole, starts)
    name_of = _naming(root, language)
    variables: list[str] = []
    waiting = [(child, 0, whole, False) for child in reversed(root.named_children)]
    while waiting:
        node, depth, owner, is_local = waiting.pop()
        starts.setdefault(node.start_point[0], depth)
        defined = _definition(node, owner, name_of(node))
        if defined:
            owner.children.append(defined)
        elif not is_local:
            variables += _variables(node, owner)
        if _is_open(node, is_local, bool(defined)):
            is_local = is_local or bool(_LOCAL.search(node.type))
            inside = reversed(node.named_children)
            waiting += [(child, depth + 1, defined or owner, is_local) for child in inside]
    return Outline(whole, starts, variables)


def _is_open(node: "Node", is_local: bool, is_definition: bool) -> bool:
    """Return whether it may contain relevant statements or names."""
    if node.start_point[0] != node.end_point[0] or node.type in WRAPPERS or node.type in BINDINGS:
        return True
    return not is_local and (node.type in DECLARING or is_definition)


def _variables(node: "Node", owner: Definition) -> Iterator[str]:
    """Yield the names it binds; within a class only constants."""
    if node.type not in VARIABLES:
        return
    for name in _bound(node):
        if not owner.name:
            yield name
        elif _CONSTANT.fullmatch(name) or _is_called_constant(node):
            yield f"{owner.name}.{name}"[-MAX_NAME_CHARACTERS:]


def _is_called_constant(node: "Node") -> bool:
    """Detect a keyword such as `final`, which may be two levels above."""
    outer: Node | None = node
    for _ in range(3):
        if outer is not None:
            if _CONSTANT_WORDS.match(_text(outer)[:MAX_NAME_CHARACTERS]):
                return True
            outer = outer.parent
    return False


def _bound(node: "Node") -> Iterator[str]:
    for part in ("name", "left", "property", "pattern", "declarator"):
        if targets := node.children_by_field_name(part):
            for target in targets:
                yield from _identifiers(target)
            return
    named = (child for child in node.named_children if child.type in NAMES | LISTS)
    if first := next(named, None):
        yield from _identifiers(first)


def _identifiers(target: "Node") -> Iterator[str]:
    """Yield plain names, even several; none of a call, an index or a C function."""
    if target.type in ("init_declarator", "pointer_declarator", "array_declarator"):
        inner = target.child_by_field_name("declarator")
        yield from _identifiers(inner) if inner is not None else ()
    elif target.type in LISTS:
        for one in target.named_children:
            if one.type in NAMES or one.type in LISTS:
                yield from _identifiers(one)
    elif found := _IDENTIFIER.fullmatch(_text(target)):
        yield found[1]


def _naming(root: "Node", language: str) -> Callable[["Node"], str]:
    """Return a function that names a node's definition; its result is empty if there is none."""
    if language not in heads.LANGUAGES:
        return partial(_name, language=language)
    code, offset = root.text or b"", root.start_byte

    def by_head(node: "Node") -> str:
        at = node.start_byte - offset
        begins = code[at : at + heads.MAX_CHARACTERS].decode(errors="replace")
        return heads.name(node.type, begins, language)

    return by_head


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
    qualified = f"{owner.name}.{name}" if owner.name else name
    return Definition(
        qualified[-MAX_NAME_CHARACTERS:], outer.start_point[0], last, level=owner.level + 1
    )


def _defines(node: "Node") -> bool:
    if node.type in BINDINGS:
        value = node.child_by_field_name("value")
        return value is not None and value.type in FUNCTIONS
    if node.type.endswith("_specifier"):  # C: a mere mention of a type has no body
        return node.child_by_field_name("body") is not None
    return node.type in DEFINITIONS


def _name(node: "Node", language: str) -> str:
    if node.type in ASSIGNMENTS and language in SCRIPTS:
        return _assigned_name(node)
    if not (_defines(node) or node.type == GENERAL.get(language)):
        return ""
    if node.type == "call":
        return _name_in_call(node)
    if node.type == "block":  # HCL, such as `resource "aws_instance" "web"`
        return _text(node).partition("{")[0].replace('"', "").strip()
    named = node.child_by_field_name("name") or _declared(node) or node.child_by_field_name("type")
    if named is None:
        named = next((child for child in node.named_children if child.type in NAMES), None)
    name = _text(named).partition("(")[0].strip() if named else ""
    received = _RECEIVER.search(_text(node.child_by_field_name("receiver")))
    return f"{received[1]}.{name}" if name and received else name


def _assigned_name(node: "Node") -> str:
    """Return the name of a function that is assigned to a property, or of any export."""
    target, value = (node.child_by_field_name(part) for part in ASSIGNMENTS[node.type])
    written = _text(target).strip("'\"")
    is_function = value is not None and value.type in FUNCTIONS
    if value is None or not (is_function or _EXPORTS.match(written)):
        return ""
    name = _IMPLIED.sub("", written)
    own = _text(value.child_by_field_name("name")) if is_function else ""
    return name if _PROPERTY.fullmatch(name) else own


def _declared(node: "Node") -> "Node | None":
    """Unwrap a C declarator: pointers, parameters and brackets enclose the name."""
    inner = node.child_by_field_name("declarator")
    while inner is not None and (deeper := inner.child_by_field_name("declarator")):
        inner = deeper
    return inner


def _name_in_call(node: "Node") -> str:
    """Return the name in Elixir's `def name(...)`, a call nested in a call."""
    target = node.child_by_field_name("target")
    if target is None or _text(target) not in CALLS_THAT_DEFINE:
        return ""
    arguments = next((c for c in node.named_children if c.type == "arguments"), None)
    first = arguments.named_children[0] if arguments and arguments.named_children else None
    return _text(first).partition("(")[0].split(" ")[0].strip() if first else ""


def _text(node: "Node | None") -> str:
    text = node.text.decode(errors="replace") if node and node.text else ""
    return " ".join(text.split())

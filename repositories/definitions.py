"""Name the definition that a node of a syntax tree is."""

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from repositories import heads

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_BYTES = 1000
"""The beginning of a node in which its name is looked for; a node may be the whole text."""

_LISTED = """
bash c cpp csharp dart elixir erlang go graphql haskell hcl java javascript kotlin lua objc perl
php powershell proto python ruby rust scala solidity sql swift terraform tsx typescript
"""
LISTED = frozenset(_LISTED.split())
"""Languages whose definitions have the types below."""

_PATTERNED = """
actionscript apex arduino bitbake bsl cairo cuda d firrtl func gdscript glsl hack hare hlsl ispc
matlab netlinx nqc odin pony squirrel thrift v
"""
PATTERNED = frozenset(_PATTERNED.split())
"""Languages in which more types define something, known by their names."""

LANGUAGES = LISTED | PATTERNED | heads.LANGUAGES

_WITHOUT_DEFINITIONS = """
beancount comment cpon css csv doxygen embeddedtemplate gitattributes gitcommit gitignore gomod
gosum gstlaunch heex html hyprlang ini jsdoc json kdl luadoc luap markdown_inline mermaid pem pgn
po printf properties psv pymanifest qmldir query readline requirements ron sparql test toml tsv
xcompose xml yaml
"""
WITHOUT_DEFINITIONS = frozenset(_WITHOUT_DEFINITIONS.split())
"""The other grammars: of data, markup and notations, which are cut into windows."""

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
input_object_type_definition enum_type_definition scalar_type_definition union_type_definition
directive_definition operation_definition object_type_extension interface_type_extension
input_object_type_extension enum_type_extension union_type_extension decl_function
getter_signature setter_signature mixin_application_class mixin_declaration extension_declaration
extension_type_declaration class_statement enum_statement class_method_definition method_elem
delegate_declaration file_scoped_namespace_declaration typealias_declaration macro_declaration
protocol_function_declaration event_definition error_declaration user_defined_type_definition
given_definition alias_declaration concept_definition
"""
DEFINITIONS = frozenset(_DEFINITIONS.split())
_THINGS = """
actor alias class class_name enum exception function interface macro method module namespace
package primitive procedure service signal struct task template trait trigger type typedef union
"""
_DEFINING = re.compile(
    rf"(?:\w+_)?(?:{'|'.join(_THINGS.split())})_(?:declaration|definition|statement)"
    r"|circuit|constructor|anonymous_python_function"
)
# These are definitions if their value is a function or a class.
BINDINGS = frozenset({"variable_declarator", "public_field_definition", "field_definition"})
FUNCTIONS = frozenset(
    {"arrow_function", "function_expression", "generator_function", "function", "class"}
)
_WRAPPERS = """
decorated_definition export_statement template_declaration lexical_declaration
variable_declaration type_declaration ambient_declaration declaration_list
value_definition type_definition method_signature
"""
WRAPPERS = frozenset(_WRAPPERS.split())
_NAMES = """
identifier type_identifier simple_identifier field_identifier property_identifier constant name
function_name simple_name message_name service_name enum_name rpc_name object_reference word
variable_name
"""
NAMES = frozenset(_NAMES.split())
# JavaScript also binds functions to properties: `exports.go = () => 1`, `{go: function () {}}`.
SCRIPTS = frozenset({"javascript", "typescript", "tsx"})
ASSIGNMENTS = {"assignment_expression": ("left", "right"), "pair": ("key", "value")}
# Languages in which every definition is a call or a block.
GENERAL = {"elixir": "call", "hcl": "block", "terraform": "block"}
_CALLS_THAT_DEFINE = """
def defp defmodule defmacro defmacrop defprotocol defimpl defdelegate defguard defguardp
"""
CALLS_THAT_DEFINE = frozenset(_CALLS_THAT_DEFINE.split())

_RECEIVER = re.compile(r"(\w+)\s*(?:\[[^\]]*\])?\s*,?\s*\)$")
"""Matches the receiver type of a Go method."""
_EXPORTS = re.compile(r"(?:module\.)?exports\.")
_IMPLIED = re.compile(r"^(?:(?:module\.)?exports(?:\.|$)|this\.)|\bprototype\.")
_PROPERTY = re.compile(r"[\w$.#]+")


def reader(root: "Node", language: str) -> Callable[["Node"], tuple[str, str]]:
    """Return a function that names what a node defines: a definition or, second, a variable."""
    if language not in heads.LANGUAGES:
        return lambda node: (_name(node, language), "")
    code, offset = root.text or b"", root.start_byte

    def by_head(node: "Node") -> tuple[str, str]:
        if not heads.of_type(node.type, language):
            return "", ""
        at, end = node.start_byte - offset, node.end_byte - offset
        if node.type == heads.NAMED_AT_END.get(language):
            at = max(at, end - heads.MAX_CHARACTERS // 2)
            return heads.read(node.type, code[at:end].decode(errors="replace"), language)
        begins = code[at : at + heads.MAX_CHARACTERS].decode(errors="replace")
        return heads.read(node.type, begins, language)

    def by_either(node: "Node") -> tuple[str, str]:
        name, variable = by_head(node)
        return (name, variable) if name or variable else (_name(node, language), "")

    return by_either if language in LISTED else by_head


def _defines(node: "Node", language: str) -> bool:
    if node.type in BINDINGS:
        value = node.child_by_field_name("value")
        return value is not None and value.type in FUNCTIONS
    if node.type.endswith("_specifier"):  # C: a mere mention of a type has no body
        return node.child_by_field_name("body") is not None
    return node.type in DEFINITIONS or (language in PATTERNED and _matches(node.type))


@cache
def _matches(node_type: str) -> bool:
    return bool(_DEFINING.fullmatch(node_type))


def _name(node: "Node", language: str) -> str:
    if node.type in ASSIGNMENTS and language in SCRIPTS:
        return _assigned_name(node)
    if not (_defines(node, language) or node.type == GENERAL.get(language)):
        return ""
    if node.type == "call":
        return _name_in_call(node)
    if node.type == "block":  # HCL, such as `resource "aws_instance" "web"`
        return text_of(node).partition("{")[0].replace('"', "").strip()
    named = node.child_by_field_name("name")
    if named is None and language == "haskell":  # the type of a function
        return ""
    named = named or _declared(node) or node.child_by_field_name("type")
    if named is None:
        named = next((c for c in node.named_children if _is_name(c, language)), None)
    name = text_of(named).partition("(")[0].strip() if named else ""
    received = _RECEIVER.search(text_of(node.child_by_field_name("receiver")))
    return f"{received[1]}.{name}" if name and received else name


def _is_name(node: "Node", language: str) -> bool:
    if node.type in NAMES:
        return True
    return language in PATTERNED and node.type.endswith(("identifier", "_name"))


def _assigned_name(node: "Node") -> str:
    """Return the name of a function that is assigned to a property, or of any export."""
    target, value = (node.child_by_field_name(part) for part in ASSIGNMENTS[node.type])
    written = text_of(target).strip("'\"")
    is_function = value is not None and value.type in FUNCTIONS
    if value is None or not (is_function or _EXPORTS.match(written)):
        return ""
    name = _IMPLIED.sub("", written)
    own = text_of(value.child_by_field_name("name")) if is_function else ""
    return name if _PROPERTY.fullmatch(name) else own


def _declared(node: "Node") -> "Node | None":
    """Unwrap a C declarator: pointers, parameters and brackets enclose the name."""
    inner = node.child_by_field_name("declarator")
    while inner is not None and inner.type.endswith("_declarator"):
        deeper = inner.child_by_field_name("declarator")
        inner = deeper or (inner.named_children[-1] if inner.named_children else None)
    return inner


def _name_in_call(node: "Node") -> str:
    """Return the name in Elixir's `def name(...)`, a call nested in a call."""
    target = node.child_by_field_name("target")
    if target is None or text_of(target) not in CALLS_THAT_DEFINE:
        return ""
    arguments = next((c for c in node.named_children if c.type == "arguments"), None)
    first = arguments.named_children[0] if arguments and arguments.named_children else None
    return text_of(first).partition("(")[0].split(" ")[0].strip() if first else ""


def text_of(node: "Node | None") -> str:
    """Return the beginning of the node's text, with single spaces."""
    text = node.text[:MAX_BYTES].decode(errors="replace") if node and node.text else ""
    return " ".join(text.split())

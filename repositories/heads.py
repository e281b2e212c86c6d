"""Find a definition's name in the first words of its node, for grammars that do not mark it.

The syntax tree supplies the beginning, the end and the node type.
"""

import re
from functools import cache

from repositories.head_patterns import BY_TYPE

MAX_CHARACTERS = 400

ROOTS = frozenset({"class_definition", "purescript"})
"""Types of roots that define what encloses the whole file."""

GRAMMARS = {"fsharp_signature": "fsharp"}
"""Languages that another grammar parses better than their own."""

NAMED_AT_END = {"verilog": "type_declaration"}
"""Node types whose head is the end of the text, behind a body of any length."""

OPENING = frozenset(
    {
        "file_scoped_namespace_declaration",
        "header",
        "module_attribute",
        "namespace_definition",
        "package_statement",
    }
)
"""Types of statements that enclose what follows, until the next one, unless they have a body."""

LABELS = frozenset({"asm", "cobol", "dockerfile", "gn", "twig"})
"""Languages in which a definition is only a label of what follows, until the next one."""


def _compiled(head: str) -> re.Pattern[str]:
    named = head.replace("NAME", r"(?P<name>\w+)").replace("VALUE", r"(?P<value>\w+)")
    return re.compile(named, re.VERBOSE)


_HEADS = {
    language: [(re.compile(types), _compiled(head)) for types, head in heads.items()]
    for language, heads in BY_TYPE.items()
}
LANGUAGES = frozenset(_HEADS)
_QUOTES = re.compile(r'["`]')


def read(node_type: str, begins: str, language: str) -> tuple[str, str]:
    """Return the name of a definition, or else of a variable; `begins` is the node's beginning."""
    head = of_type(node_type, language)
    found = head.match(begins) if head else None
    if not found:
        return "", ""
    groups = found.groupdict()
    return _QUOTES.sub("", groups.get("name") or ""), groups.get("value") or ""


@cache
def of_type(node_type: str, language: str) -> re.Pattern[str] | None:
    return next((head for types, head in _HEADS[language] if types.fullmatch(node_type)), None)

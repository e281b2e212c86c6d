"""Trees of source code, by tree-sitter's grammars, from texts that none of these trips over."""

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node

# That grammar looks letters up in a table that ends there; what lies beyond crashes the process.
BASH = "bash"
_BEYOND = re.compile(r"[^\x00-\xff]")


def root_of(text: str, language: str) -> "Node":
    """Of the tree of any text, right or wrong; its bytes are UTF-8.

    It ends with a line's end, since Perl's grammar never comes to the end of a comment without.
    """
    from tree_sitter import Parser

    read = _BEYOND.sub("_", text) if language == BASH else text
    # One for each text: they must not be shared by threads.
    return Parser(_grammar(language)).parse(f"{read}\n".encode(errors="replace")).root_node


@cache
def _grammar(language: str) -> "Language":
    from tree_sitter_language_pack import get_language

    return get_language(language)  # type: ignore[arg-type]  # it wants a literal

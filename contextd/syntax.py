"""Syntax trees of source code, by tree-sitter's grammars, for any text."""

import re
import time
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node

# These grammars look letters up in tables that end there; letters beyond crash the process.
BASH = "bash"
_BEYOND = {BASH: re.compile(r"[^\x00-\xff]")} | dict.fromkeys(
    ["d", "v"], re.compile(r"[^\x00-\uffff]")
)
# The end of each text. Without a final line break, Perl's grammar never ends a comment; COBOL's
# never ends in one of the first six columns, which are for numbers of lines.
_ENDS = {"cobol": "\n" + " " * 80}
_BYTES_PER_READ = 4096


class TooHard(Exception):
    """A grammar needs longer for the text than allowed; for some texts it needs O(n²)."""


def root_of(text: str, language: str, *, seconds: float = 10) -> "Node":
    """Return the root of the tree of any text, valid or not; its bytes are UTF-8. Raise TooHard."""
    from tree_sitter import Parser

    beyond = _BEYOND.get(language)
    read = beyond.sub("_", text) if beyond else text
    ended = read + _ENDS.get(language, "\n")
    code, until = ended.encode(errors="replace"), time.monotonic() + seconds
    parser = Parser(_grammar(language))  # one per text: threads must not share parsers
    try:
        tree = parser.parse(
            lambda at, _: code[at : at + _BYTES_PER_READ],
            progress_callback=lambda _at, _wrong: time.monotonic() > until,
        )
    except ValueError:
        raise TooHard from None
    return tree.root_node


@cache
def _grammar(language: str) -> "Language":
    from tree_sitter_language_pack import get_language

    return get_language(language)  # type: ignore[arg-type]  # it wants a literal

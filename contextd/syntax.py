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
_BYTES_PER_READ, _BYTES_OF_NODE = 65_536, 4096


class _Source:
    """A text for the parser, which never releases what it has read (py-tree-sitter 0.26)."""

    def __init__(self, code: bytes) -> None:
        self._code = code
        self._lent, self._is_parsed = bytearray(), False

    def __call__(self, at: int, _: object) -> bytes | bytearray:
        """Return the text from there, to the parser in a buffer that it needs until it asks again.

        The texts of nodes must be bytes; those are released.
        """
        if self._is_parsed:
            return self._code[at : at + _BYTES_OF_NODE]
        self._lent[:] = self._code[at : at + _BYTES_PER_READ]
        return self._lent

    def end(self) -> None:
        self._lent.clear()
        self._is_parsed = True


class TooHard(Exception):
    """A grammar needs longer for the text than allowed; for some texts it needs O(n²)."""


def root_of(text: str, language: str, *, seconds: float = 10) -> "Node":
    """Return the root of the tree of any text, valid or not; its bytes are UTF-8. Raise TooHard.

    `seconds` are of CPU time, so that the result does not depend on other work of the machine.
    """
    from tree_sitter import Parser

    beyond = _BEYOND.get(language)
    read = beyond.sub("_", text) if beyond else text
    ended = read + _ENDS.get(language, "\n")
    source, until = _Source(ended.encode(errors="replace")), time.thread_time() + seconds
    parser = Parser(_grammar(language))  # one per text: threads must not share parsers
    try:
        tree = parser.parse(
            source,
            progress_callback=lambda _at, _wrong: time.thread_time() > until,
        )
    except ValueError:
        raise TooHard from None
    finally:
        source.end()
    return tree.root_node


@cache
def _grammar(language: str) -> "Language":
    from tree_sitter_language_pack import get_language

    return get_language(language)  # type: ignore[arg-type]  # it wants a literal

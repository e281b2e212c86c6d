"""Reduce a text to the parts that distinguish one error from another."""

import re

from contextd.faults.clean import clean
from contextd.faults.grammar import Grammar, frame_of, stacks_of
from contextd.faults.languages import GRAMMARS

# Lines that every stack of a language has.
_FILLERS = re.compile(
    r"^[ |+]*(?:Traceback \(most recent call last\):|Exception Group Traceback[^\n]*"
    r"|\.\.\. \d+ (?:more|common frames omitted)|--- End of [^\n]*"
    r"|(?:[Ss]tack(?: back)? ?trace|stack backtrace):|goroutine \d+ \[[^\]\n]*\]:"
    r"|note: [^\n]*RUST_BACKTRACE[^\n]*|[~^]+)(?:\n|$)",
    re.MULTILINE,
)


def focus(text: str, frames: int = 6) -> str:
    """Return the cleaned text with each stack cut to the innermost frames of the application."""
    focused = _FILLERS.sub("", clean(text))
    for grammar in GRAMMARS:
        if grammar.is_hinted(focused):
            focused = _thinned(focused, grammar, frames)
    return focused.strip("\n")


def _thinned(text: str, grammar: Grammar, frames: int) -> str:
    pieces, end = [], 0
    for stack in stacks_of(grammar, text):
        kept = _informative(stack, grammar)[:frames]
        for call in stack:
            pieces.append(text[end : call.end() if call in kept else call.start()])
            end = call.end() if call in kept else call.end() + 1
    return "".join(pieces) + text[end:]


def _informative(stack: list[re.Match[str]], grammar: Grammar) -> list[re.Match[str]]:
    """Return the application's frames, innermost first, or all frames if it has none."""
    inwards = stack[::-1] if grammar.outermost_first else stack
    own = [call for call in inwards if not grammar.judged(frame_of(call)).is_library]
    return own or inwards

"""PHP, also as Laravel and Symfony log it."""

import re

from contextd.faults.grammar import LINE, MESSAGE, Grammar, compiled

_CLASS = r"(?P<type>[A-Za-z_][\w\\]*)"
_MESSAGE = r"(?P<message>[^\n]*(?:\n(?!Stack trace:|#\d)[^\n]*){0,10}?)"
_PLACE = rf"(?:<b>)?(?P<file>[^\s<]+)(?:</b>)? on line (?:<b>)?{LINE}(?:</b>(?:<br />)?)?$"

PHP = Grammar(
    language="php",
    hints=(".php", "PHP ", "[internal function]"),
    headlines=compiled(
        rf"^(?:PHP |<b>)?[\w ]{{0,40}}(?:</b>)?: +Uncaught {_CLASS}(?:: {_MESSAGE})?"
        rf" in (?P<file>\S+):{LINE}$",
        rf"^(?P<wrapper>Next ){_CLASS}(?:: {_MESSAGE})? in (?P<file>\S+):{LINE}$",
        r"^(?:PHP |<b>)?(?P<type>(?:Fatal|Parse|Recoverable fatal) error|Warning|Notice|Deprecated)"
        rf"(?:</b>)?: +(?!Uncaught){MESSAGE} in {_PLACE}",
        rf"\[(?:(?P<cause>previous exception)\] \[)?object\] \({_CLASS}\(code: [^)\n]{{0,40}}\): "
        rf"{MESSAGE} at (?P<file>\S+):{LINE}\)",
    ),
    frames=compiled(
        rf"^ *#\d+ (?:(?P<file>[^\n(]+)\({LINE}\)|\[internal function\]): "
        r"(?P<function>[^\n(]+)[^\n]*"
    ),
    library=re.compile(r"[/\\]vendor[/\\]|^\S+ $"),
)

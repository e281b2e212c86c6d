"""PHP, also as Laravel and Symfony log it."""

import re

from contextd.faults.grammar import LINE, MESSAGE, Grammar, compiled

_CLASS = r"(?P<type>[A-Za-z_][\w\\]*)"

PHP = Grammar(
    language="php",
    hints=(".php", "PHP ", "[internal function]"),
    headlines=compiled(
        rf"^(?:PHP )?[\w ]{{0,40}}: +Uncaught {_CLASS}(?:: {MESSAGE})? in (?P<file>\S+):{LINE}$",
        rf"^(?P<wrapper>Next ){_CLASS}(?:: {MESSAGE})? in (?P<file>\S+):{LINE}$",
        r"^(?:PHP )?(?P<type>(?:Fatal|Parse|Recoverable fatal) error|Warning|Notice|Deprecated): +"
        rf"(?!Uncaught){MESSAGE} in (?P<file>\S+) on line {LINE}$",
        rf"(?P<cause>\[previous exception\] )?\[object\] \({_CLASS}\(code: [^)\n]{{0,40}}\): "
        rf"{MESSAGE} at (?P<file>\S+):{LINE}\)",
    ),
    frames=compiled(
        rf"^ *#\d+ (?:(?P<file>[^\n(]+)\({LINE}\)|\[internal function\]): "
        r"(?P<function>[^\n(]+)[^\n]*"
    ),
    library=re.compile(r"[/\\]vendor[/\\]|^\S+ $"),
)

"""Ruby, with the quotes of old and of 3.4 and later, and as Rails and RSpec print it."""

import re

from contextd.faults.grammar import LINE, MESSAGE, TYPE, Grammar, compiled

_PLACE = rf"(?P<file>[^\s:][^\n:]*):{LINE}:in [`'](?P<function>[^'\n]+)'"

# Of 2.5 to 2.7 on a terminal: the error stands last, below its stack.
_UPSIDE_DOWN = re.compile(
    r"^Traceback \(most recent call last\):\n((?: *\d+: from [^\n]*\n)+)([^\n]*)", re.MULTILINE
)


def _upright(text: str) -> str:
    return _UPSIDE_DOWN.sub(_turned, text)


def _turned(trace: re.Match[str]) -> str:
    calls = trace[1].splitlines()
    return "\n".join([trace[2], *reversed(calls)])


RUBY = Grammar(
    language="ruby",
    causes_follow=True,
    prepare=_upright,
    hints=(":in `", ":in '", ".rb:"),
    headlines=compiled(
        rf"^{_PLACE}: (?P<message>[^\n]*) \((?P<type>[A-Z][\w:]*)\)$",
        rf"^(?P<file>[^\s:]+\.rb):{LINE}: (?P<message>(?P<type>syntax error)[^\n]*)$",
    ),
    vague_headlines=compiled(
        rf"^ *{TYPE} \((?P<message>[^\n]*)\):?$",  # Rails
        rf"^ *{TYPE}:(?:\n? +{MESSAGE})?$",  # RSpec, Minitest
        r"^ *(?P<message>Failure/Error: [^\n]*)$",
        rf"^ *(?P<cause>Caused by:|# --- Caused by: ---)\n[ #]*{TYPE}:?\s+{MESSAGE}$",
    ),
    frames=compiled(rf"^[ #]*+(?:from |\d+: from )?{_PLACE}$"),
    library=re.compile(
        r"/gems/|/lib/ruby/|<internal:|/bin/(?:rspec|rake|rails|bundle|ruby)|(?:^| )kernel_require"
    ),
)

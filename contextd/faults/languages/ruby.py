"""Ruby, with the quotes of old and of 3.4 and later, and as Rails and RSpec print it."""

import re

from contextd.faults.grammar import LINE, MESSAGE, TYPE, Grammar, compiled

_PLACE = rf"(?P<file>[^\s:][^\n:]*):{LINE}:in [`'](?P<function>[^'\n]+)'"

RUBY = Grammar(
    language="ruby",
    hints=(":in `", ":in '", ".rb:"),
    headlines=compiled(
        rf"^{_PLACE}: (?P<message>[^\n]*) \((?P<type>[A-Z][\w:]*)\)$",
        rf"^(?P<file>[^\s:]+\.rb):{LINE}: (?P<message>(?P<type>syntax error)[^\n]*)$",
    ),
    vague_headlines=compiled(
        rf"^ *{TYPE} \((?P<message>[^\n]*)\):?$",  # Rails
        rf"^ *{TYPE}:(?:\n? +{MESSAGE})?$",  # RSpec, Minitest
        rf"^ *(?P<cause>Caused by:|# --- Caused by: ---)\n[ #]*{TYPE}:?\s+{MESSAGE}$",
    ),
    frames=compiled(rf"^[ #]*+(?:from |\d+: from )?{_PLACE}$"),
    library=re.compile(
        r"/gems/|/lib/ruby/|<internal:|/bin/(?:rspec|rake|rails|bundle|ruby)|(?:^| )kernel_require"
    ),
)

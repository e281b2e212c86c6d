"""JavaScript and TypeScript, as V8, Firefox and Safari print them."""

import re

from contextd.faults.grammar import LEAD, LINE, MESSAGE, TYPE, Grammar, compiled

# The errors that an AggregateError is made of.
_MEMBERS = re.compile(r"^( *)\[errors\]: \[\n(?:\1 [^\n]*\n)*", re.MULTILINE)
_MEMBER = re.compile(r"^( *)(?=\w*Error\b)", re.MULTILINE)


def _with_causes(text: str) -> str:
    return _MEMBERS.sub(lambda members: _MEMBER.sub(r"\1[cause]: ", members[0]), text)


JAVASCRIPT = Grammar(
    language="javascript",
    prepare=_with_causes,
    hints=(".js:", ".ts:", ".jsx:", ".tsx:", ".mjs:", ".cjs:", ".vue:", "node:", "<anonymous>"),
    vague_headlines=compiled(
        rf"{LEAD}(?P<cause>\[cause\]: |Caused by: )?(?:Uncaught (?:\(in promise\) )?)?"
        rf"(?:\(node:\d+\) \w+: |Unhandled[^\n:]{{0,80}}: )?"
        rf"{TYPE}(?: \[(?P<code>[\w-]+)\])?(?:: ?{MESSAGE}|$)",
        rf"^(?P<type>Warning): {MESSAGE}",  # React
        r"^ *\u25cf (?P<message>[^\n]+)",  # Jest
    ),
    frames=compiled(
        r"^ *at (?:async )?(?:(?P<function>[^\n(]+?) (?:\[as [^\]\n]+\] )?\()?"
        rf"(?:(?P<file>[^\n()]+?):{LINE}:\d{{1,9}}|<anonymous>|native|index \d+|eval at [^\n]*)"
        r"\)?(?: \{)?$",
        rf"^ *(?:async\*)?(?P<function>[^\s@()]*)@(?P<file>[^\s@()]+):{LINE}:\d{{1,9}}$",
        rf"^ *\u276f (?:(?P<function>\S+) )?(?P<file>[^\s()]+):{LINE}:\d{{1,9}}$",  # Vitest
    ),
    library=re.compile(r"node_modules|node:|internal/|webpack/bootstrap|\[native code\]|[^ ] $"),
)

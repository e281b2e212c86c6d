"""C and C++: debuggers, sanitizers, valgrind and the runtime's last words."""

import re

from contextd.faults.grammar import LINE, MESSAGE, Grammar, compiled

_FUNCTION = r"(?P<function>(?:\(anonymous namespace\)::)?[^\s(][^\n(]*?)"

NATIVE = Grammar(
    language="c",
    hints=(
        "#0 ",
        "Sanitizer: ",
        "==    at 0x",
        "definitely lost",
        "terminat",
        "received signal ",
        "runtime error: ",
        ": Assertion ",
    ),
    headlines=compiled(
        r"^(?:Program|Thread [^\n]{0,80}?) (?:received|terminated with) signal "
        r"(?P<type>SIG\w+)(?:, (?P<message>[^\n.]*))?",
        r"^(?:==\d+== ?)?(?:ERROR|WARNING): \w+Sanitizer: "
        r"(?P<message>(?:attempting (?:to )?)?"
        r"(?P<type>SEGV|data race|detected memory leaks|free on address|[\w-]+)[^\n]*)",
        rf"^(?P<file>[^\s:]+):{LINE}:\d+: (?P<type>runtime error): {MESSAGE}",
        r"^==\d+== (?P<message>(?P<type>Invalid (?:read|write|free)|Conditional jump"
        r"|Use of uninitialised|Mismatched free|Source and destination overlap"
        r"|Jump to the invalid address)[^\n]*)",
        r"^==\d+== +(?P<message>[\d,]+ (?:\([^)\n]*\) )?bytes in [\d,]+ blocks are "
        r"(?P<type>definitely lost)[^\n]*)",
        r"^terminate called after throwing an instance of '(?P<type>[^'\n]+)'"
        rf"(?:\n +what\(\): +{MESSAGE})?",
        r"^libc\+\+abi: terminating [^\n]{0,40}exception of type (?P<type>[\w:]+)"
        rf"(?:: {MESSAGE})?",
        rf"^[^\s:]+: (?P<file>[^\s:]+):{LINE}: (?P<function>[^\n:]+(?:::[^\n:]+)*): "
        r"(?P<type>Assertion) (?P<message>[^\n]+ failed)",
    ),
    frames=compiled(
        rf"^#\d+ +(?:0x[0-9a-f]+ in )?{_FUNCTION} ?\("
        rf"(?:[^\n]*\) at (?P<file>[^\s:]+):{LINE}$|[^\n]*\)(?: from \S+)?$)",
        rf"^ +#\d+ 0x[0-9a-f]+ (?:in )?{_FUNCTION}(?:\([^\n]*\)(?: const)?)? "
        rf"(?P<file>[^\s:()]+|\([^\s()]+\))(?::{LINE})?(?::\d+)?(?: \(BuildId: \w+\))?$",
        r"^==\d+== +(?:at|by) 0x[0-9A-Fa-f]+: (?P<function>[^\n]+) "
        rf"\((?:in )?(?P<file>[^\s():]+)(?::{LINE})?\)$",
    ),
    library=re.compile(
        r"^(?:__|_start|_?start_thread|clone\b|raise |abort |std::|operator (?:new|delete)"
        r"|(?:m|c|re)alloc |free )|\(/|/lib/|/usr/|libc|sysdeps|vg_replace|sanitizer"
    ),
)

"""Go: panics, fatal errors of the runtime, failed tests."""

import re

from contextd.faults.grammar import LINE, MESSAGE, Grammar, compiled

# Compilers print `fatal error: ` too: either a known message follows, or a goroutine.
_OF_RUNTIME = (
    r"all goroutines are asleep|concurrent map|sync: |stack overflow|unexpected signal|runtime:"
    r"|out of memory|malloc|found bad pointer|[^\n]*\n(?:[^\n]*\n){0,8}?(?:runtime stack|goroutine)"
)
GO = Grammar(
    language="go",
    hints=("panic", "fatal error: ", "goroutine ", "--- FAIL: ", "DATA RACE"),
    headlines=compiled(
        r"^(?P<wrapper> +)?(?:http: )?(?P<type>panic)(?: serving \S+)?: "
        r"(?P<message>[^\n]*?)(?: \[recovered[^\]\n]{0,80}\])?$",
        rf"^(?P<type>fatal error): (?={_OF_RUNTIME}){MESSAGE}",
        rf"^WARNING: (?P<type>DATA RACE)\n{MESSAGE}",
        r"^ *--- (?P<type>FAIL): (?P<function>\S+) \([\d.]+s\)\n"
        rf" +(?P<file>[^\s:]+\.go):{LINE}:(?: |(?:\n[^\n]*){{0,3}}?\n +Error: +){MESSAGE}",
    ),
    frames=compiled(
        r"^ *(?:created by )?(?P<function>[^\s(]+(?:(?<=\.)\([^)\n]*\)[^\s(]*)?)"
        rf"(?:\([^\n]*\))?(?: in goroutine \d+)?\n +(?P<file>[^\s:]+\.(?:go|s)):{LINE}[^\n]*"
    ),
    library=re.compile(
        r"^(?:runtime|testing|reflect|sync|syscall|panic|net/http|internal/[\w/]+)[.( ]"
        r"|/usr/local/go/src/|/go/pkg/mod/|/libexec/src/"
    ),
)

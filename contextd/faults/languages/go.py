"""Go: panics, fatal errors of the runtime, failed tests."""

import re

from contextd.faults.grammar import LINE, MESSAGE, Grammar, compiled

GO = Grammar(
    language="go",
    hints=("panic", "fatal error: ", "goroutine ", "--- FAIL: ", "DATA RACE"),
    headlines=compiled(
        r"^(?P<wrapper> +)?(?:http: )?(?P<type>panic)(?: serving \S+)?: "
        r"(?P<message>[^\n]*?)(?: \[recovered[^\]\n]{0,80}\])?$",
        rf"^(?P<type>fatal error): {MESSAGE}",
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

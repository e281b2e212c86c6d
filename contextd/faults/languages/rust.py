"""Rust: panics in both formats, and the chains that `anyhow` and `eyre` print."""

import re

from contextd.faults.grammar import LINE, Grammar, compiled

# A chain as color-eyre prints it.
_NUMBERED = re.compile(r"^Error:\n +0: ([^\n]+)\n((?: +[1-9]\d?: [^\n]+(?:\n|\Z))+)", re.MULTILINE)


def _as_anyhow(text: str) -> str:
    return _NUMBERED.sub(_chained, text) if "Error:\n" in text else text


def _chained(error: re.Match[str]) -> str:
    causes = [line.partition(": ")[2] for line in error[2].splitlines()]
    numbered = [f"    {number}: {cause}" for number, cause in enumerate(causes)]
    return "\n".join([f"Error: {error[1]}", "", "Caused by:", *numbered, ""])


RUST = Grammar(
    language="rust",
    prepare=_as_anyhow,
    hints=("panicked at ", "Caused by:\n", "Error:\n   0: "),
    headlines=compiled(
        rf"^thread '[^'\n]*'(?: \(\d+\))? (?P<type>panic)ked at (?P<file>[^\s:']+):{LINE}:\d+:\n"
        r"(?P<message>[^\n]*)",
        r"^thread '[^'\n]*' (?P<type>panic)ked at '(?P<message>[^\n]*(?:\n[^\n]*){0,3}?)', "
        rf"(?P<file>[^\s:]+):{LINE}(?::\d+)?$",
        r"^(?P<type>Error):(?: (?=[^\n]+\n+Caused by:\n)|\n +0: )(?P<message>[^\n]+)",
        r"^(?P<cause>Caused by:\n +(?:0: )?| {4}[1-9]\d?: )(?P<message>[^\n]+)",
    ),
    frames=compiled(
        r"^ *\d+: +(?:0x[0-9a-f]+ - )?(?P<function>[^\n]+)"
        rf"\n +at (?P<file>[^\s:]+):{LINE}(?::\d+)?$",
        r"^ {1,3}\d{1,3}: +(?:0x[0-9a-f]+ - )?(?P<function>[\w<{][^\n]*::[^\n]*)$",
    ),
    library=re.compile(
        r"^(?:<.* as )?&?(?:std|core|alloc|test|tokio|backtrace|anyhow|eyre)::"
        r"|^(?:_*rust_|__libc_|_start|main )|/rustc/|\.cargo/registry"
    ),
)

"""How compilers, linkers, linters and test runners report an error in one line.

A pattern is matched where a line begins, behind its indentation; its groups are those of a
headline (see `Grammar`). The first match is used.
"""

from contextd.faults.grammar import LINE, MESSAGE, TYPE

_FILE = r"(?P<file>[^\s:(][^\n:(]{0,300}|[A-Za-z]:[\\/][^\n:(]{0,300})"
_SOURCE = r"(?P<file>[^\s:]{1,300})"


def _coded(codes: str) -> str:
    """Return the form of MSBuild, which many compilers share."""
    place = rf"(?:{_FILE}\({LINE}(?:,\d+){{0,3}}\) ?: |(?:[^\n:]{{0,300}} : )?)"
    project = r"(?: \[[^\]\n]{1,300}\])?$"
    return rf"{place}(?:fatal )?error (?P<type>{codes}) ?: (?P<message>[^\n]*?){project}"


COMPILERS: dict[str, tuple[str, ...]] = {
    "rust": (
        rf"error(?:\[(?P<type>E\d{{4}})\])?: {MESSAGE}\n +--> {_SOURCE}:{LINE}",
        rf"error\[(?P<type>E\d{{4}})\]: {MESSAGE}",
        r"(?P<message>thread '[^'\n]*'(?: \(\d+\))? has overflowed its stack)"
        r"(?:\nfatal runtime error: (?P<type>stack overflow))?",
    ),
    "typescript": (
        _coded(r"TS\d+"),
        rf"{_SOURCE}:{LINE}:\d+ - error (?P<type>TS\d+): {MESSAGE}",
    ),
    "c": (
        _coded(r"(?:C|D|LNK)\d{4}"),
        r"[^\n]*?(?P<message>"
        r"(?P<type>undefined reference to|multiple definition of|cannot find -l)[^\n]*)",
        r"(?P<message>(?P<type>Undefined symbols) for architecture[^\n]*(?:\n[^\n]*)?)",
        rf"(?:\S*[/\\])?(?P<type>ld|lld|ld\.\w+): (?:error: )?{MESSAGE}",
        rf"{_SOURCE}:{LINE}: (?P<type>Failure)\n{MESSAGE}",  # GoogleTest
    ),
    "csharp": (_coded(r"[A-Z]{2,8}\d{3,5}"),),
    "javascript": (
        rf"{LINE}:\d+ +error +(?P<message>\S[^\n]*?)(?<! ) {{2,}}(?P<type>[\w@/-]+)$",  # ESLint
        rf"(?P<type>Module not found): (?:Error: )?{MESSAGE}",  # webpack
    ),
    "swift": (
        rf"{_SOURCE}:{LINE}: (?P<type>Fatal error): {MESSAGE}",
        r"\*\*\* Terminating app due to uncaught exception '(?P<type>\w+)', "
        r"reason: '(?P<message>[^\n]*)'",
    ),
    "elixir": (rf"\*\* \((?P<type>[\w.]+)\) {MESSAGE}",),
    "java": (rf"{_SOURCE}:\[{LINE},\d+\] (?:error: )?{MESSAGE}",),  # Maven
    "scala": (rf"(?P<file>[^\s:]+\.scala):{LINE}:(?:\d+:)? {MESSAGE}",),
    "kotlin": (rf"e: (?:file://)?{_SOURCE}:(?: \()?{LINE}(?:, |:)\d+\)?:? {MESSAGE}",),
    "go": (rf"(?:vet: )?(?P<file>[^\s:]+\.go):{LINE}:\d+: {MESSAGE}",),
    "python": (
        rf"(?:FAILED|ERROR) {_SOURCE}(?:::(?P<function>\S+))? - {TYPE}(?:: {MESSAGE})?",
        rf"{_SOURCE}:{LINE}:\d+:? (?P<type>[A-Z]{{1,4}}\d{{2,4}}):? {MESSAGE}",  # Ruff, Flake8
    ),
    "cmake": (rf"(?P<type>CMake Error) at {_SOURCE}:{LINE} \([^\n]*\):\n +{MESSAGE}",),
    "": (  # GCC, Clang, javac, mypy: the file determines the language
        rf"{_FILE}:{LINE}(?::\d+)?: (?:fatal )?error: "
        r"(?P<message>[^\n]*?)(?:(?<! ) +\[(?P<type>[\w=+,-]+)\])?$",
    ),
}

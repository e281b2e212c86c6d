"""Recognise errors that are reported in one line, without a stack."""

import builtins
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import PurePath

from contextd.faults.compilers import COMPILERS
from contextd.faults.fault import Fault
from contextd.faults.grammar import MAX_TEXT_LENGTH, NAMED_TYPE, POINTER, block_of, error_line
from contextd.faults.tools import LAST_WORDS, TOOLS

_MAX_LINES = 100  # a log with more errors than that has nothing new after them
_SHORT = 8  # lines: of a longer text, the first is not what it is about
# Something of this is in every line that reports an error. Alternatives that all begin with a plain
# character are searched for several times faster.
_CUE = re.compile(
    r"rror|RROR|ERR|xception|atal|ATAL|ail|AIL|enied|ot |o such|nable|ndefined|nbound|nauthorized"
    r"|annot|bort|ault|xit|onflict|CONF|eject|Off|illed|anic|PANIC|SEVERE|CRITICAL|Msg|OOM|verflow"
    r"|4\d\d |5\d\d |-\d{4}|: \d|:\d|::|\*\* |went wrong"
)
# A command that was run, as shells and CI repeat it.
_COMMAND = re.compile(r"[$+%>#] |Run |[a-z][\w.+/-]* (?:[^\n:]* )?--?[a-z]")
_EXITS = {"make", "shell"}  # whose last words say only that something had gone wrong
_LEVEL = re.compile(r"\[?(?:ERROR|FATAL|CRITICAL|SEVERE|error)\]?:? +")
_SUFFIX_LANGUAGES = {
    ".c": "c", ".cc": "c", ".cpp": "c", ".cxx": "c", ".h": "c", ".hpp": "c", ".m": "c",
    ".java": "java", ".kt": "kotlin", ".go": "go", ".rs": "rust", ".swift": "swift",
    ".py": "python", ".pyi": "python", ".scala": "scala", ".rb": "ruby",
}  # fmt: skip
_TYPE_LANGUAGES = (
    ("java", re.compile(r"(?:java|javax|kotlin|org|com|android|io|net)\.")),
    ("csharp", re.compile(r"(?:System|Microsoft)\.")),
    ("ruby", re.compile(r"\w+::|NoMethodError|ArgumentError|LoadError|SystemStackError")),
    ("javascript", re.compile(r"(?:Reference|Range|Aggregate|URI|Eval)Error|ERR_")),
)
_PYTHON_TYPES = {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
} - {  # other languages have these too
    "Exception", "Warning", "TypeError", "SyntaxError", "NameError", "IndexError", "KeyError",
    "RuntimeError", "NotImplementedError", "ZeroDivisionError", "AssertionError", "TimeoutError",
    "EOFError", "IOError", "StopIteration", "SystemExit", "MemoryError", "SystemError",
}  # fmt: skip

_Table = tuple[tuple[str, re.Pattern[str]], ...]


def _compiled(*tables: dict[str, tuple[str, ...]]) -> _Table:
    return tuple(
        (language, re.compile(pattern, re.MULTILINE))
        for table in tables
        for language, patterns in table.items()
        for pattern in patterns
    )


_TELLING = _compiled(COMPILERS, TOOLS)
_CLOSING = _compiled(LAST_WORDS)


def find(text: str) -> Fault | None:
    """Return the first line that reports an error, else one that only says that there was one."""
    starts = list(islice(_promising_lines(text), _MAX_LINES))
    if telling := _first(_TELLING, text, starts):
        return telling
    closing = _first(_CLOSING, text, starts)
    if closing and closing.language in _EXITS:
        closing = _error_before(closing, text) or closing
    return replace(closing, is_guessed=True) if closing else None


def untyped(text: str) -> Fault:
    """Return the fault of a text in no known format: its first line, and the type named there."""
    lines = (line.strip() for line in text.split("\n"))
    line = next((line for line in lines if not POINTER.fullmatch(line)), text.strip())[
        :MAX_TEXT_LENGTH
    ]
    named = NAMED_TYPE.search(line)
    return Fault(named["type"] if named else "", line, line, is_guessed=True)


def _error_before(closing: Fault, text: str) -> Fault | None:
    """Return the error of a short text's first line, if its last only says that it failed."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    line = next((line for line in lines if not _COMMAND.match(line)), "")
    if not line or len(lines) > _SHORT or _first(_CLOSING, line, [0]):
        return None
    first = untyped(line)
    return replace(first, message=f"{first.message}\n{closing.error_line}")


def _promising_lines(text: str) -> Iterator[int]:
    """Yield where those lines begin, after their indentation."""
    position = 0
    while cue := _CUE.search(text, position):
        start = text.rfind("\n", 0, cue.start()) + 1
        yield start + len(text[start : cue.end()]) - len(text[start : cue.end()].lstrip())
        position = text.find("\n", cue.end()) + 1 or len(text)


def _first(table: _Table, text: str, starts: list[int]) -> Fault | None:
    for start in starts:
        level = _LEVEL.match(text, start)
        for position in (start, level.end()) if level else (start,):
            for language, pattern in table:
                if match := pattern.match(text, position):
                    return _fault(language, match)
    return None


def _fault(language: str, match: re.Match[str]) -> Fault:
    block = block_of(match)
    fault = block.fault(language, block.frames)
    if error_type := _numbered_type(match.groupdict()):
        is_said = error_type in fault.message
        line = fault.message if is_said else error_line(error_type, fault.message)
        fault = replace(fault, error_type=error_type, error_line=line)
    return replace(fault, language=fault.language or _language(fault))


def _numbered_type(group: dict[str, str | None]) -> str:
    if status := group.get("status"):
        return f"HTTP {status}"
    return f"exit code {code}" if (code := group.get("exit")) else ""


def _language(fault: Fault) -> str:
    """Return the language that the name of the file or type indicates, or an empty string."""
    if fault.frames:
        return _SUFFIX_LANGUAGES.get(PurePath(fault.frames[0].file).suffix, "")
    known = (name for name, names in _TYPE_LANGUAGES if names.match(fault.error_type))
    return next(known, "python" if fault.error_type in _PYTHON_TYPES else "")

"""Errors as they are really printed, with what is to be read from them: `printed/*.txt`.

A sample is a name behind `@@`, the text, and behind `->` what `render` makes of its fault.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from contextd.faults import Fault, Frame

_FOLDER = Path(__file__).parent / "printed"


@dataclass(frozen=True)
class Sample:
    name: str
    text: str
    expected: str


def samples() -> list[Sample]:
    return [sample for path in sorted(_FOLDER.glob("*.txt")) for sample in _read(path)]


def render(fault: Fault) -> str:
    """A fault in a form that reads well in a file."""
    lines = [
        f"type: {fault.error_type}",
        f"message: {fault.message.replace(chr(10), ' / ')}",
        f"line: {fault.error_line}",
        f"language: {fault.language}",
        *(f"    {_place(frame)}" for frame in fault.frames),
    ]
    for cause in fault.causes:
        lines += ["caused by", *(f"    {line}" for line in render(cause).split("\n"))]
    return "\n".join(line.rstrip() for line in lines)


def _place(frame: Frame) -> str:
    line = "" if frame.line is None else f":{frame.line}"
    return f"{frame.function} @ {frame.file}{line}{' (library)' if frame.is_library else ''}"


def _read(path: Path) -> list[Sample]:
    found = []
    for part in re.split(r"^@@ ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name, _, rest = part.partition("\n")
        text, _, expected = rest.partition("\n->\n")
        found.append(Sample(f"{path.stem}: {name}", text, expected.rstrip("\n")))
    return found

"""What a language's table of patterns is made of."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum

from contextd.faults.fault import Fault, Frame

# The pieces that the tables of several languages share.
LEAD = r"^ *(?:(?:ERROR|FATAL|CRITICAL|SEVERE|error|fatal):? +)?"
LINE = r"(?P<line>\d{1,9})"
MESSAGE = r"(?P<message>[^\n]*)"
TYPE = (  # a qualified name, or one that ends the way names of errors do
    r"(?P<type>(?:(?:[a-z_$][\w$]*\.)+[A-Z][\w$]*|(?:[A-Z]\w*::)+[A-Z]\w*"
    r"|(?:[A-Z][\w$]*(?:\.|::|\\))*(?=[A-Z])[\w$]*?(?:Error|Exception|Throwable|Failure|Fault))"
    r"(?![\w$]))"
)
NAMED_TYPE = re.compile(  # anywhere in a line
    r"(?<![\w.$])(?P<type>(?:[A-Za-z_$][\w$]*\.)*(?=[A-Z])[\w$]+?(?:Error|Exception))(?![\w$])"
    rf"(?:: {MESSAGE})?"
)
CODE_FRAME = re.compile(r" *(?:>? *\d* *\|(?: .*)?|\(compared using \S+\))")
POINTER = re.compile(r"[\s^~]*|node:[\w/]+:\d+|throw err;?")  # at the source of an error
MAX_TEXT_LENGTH = 2_000  # of what a fault says


class Relation(Enum):
    """What an error has to do with the one printed before it."""

    NONE = "none"
    CAUSE = "it caused the other"
    WRAPPER = "the other caused it"


@dataclass
class Block:
    """One error as printed, while it is being read."""

    error_type: str
    message: str
    error_line: str
    relation: Relation = Relation.NONE
    frames: list[Frame] = field(default_factory=list)

    def continue_message(self, lines: list[str]) -> None:
        if lines and not self.message:
            self.error_line = f"{self.error_line}: {lines[0]}"
        self.message = "\n".join([self.message, *lines]).strip()

    def fault(self, language: str, frames: Iterable[Frame]) -> Fault:
        return Fault(
            error_type=self.error_type[:MAX_TEXT_LENGTH],
            message=self.message[:MAX_TEXT_LENGTH],
            error_line=self.error_line[:MAX_TEXT_LENGTH],
            frames=tuple(frames),
            language=language,
        )


@dataclass(frozen=True)
class Grammar:
    """How a language prints an error and its stack.

    Groups of a headline: `type`, `message`, `code` (tells more than a bare `Error`), `cause` and
    `wrapper` (the words that tie it to the error before) and, where it names the place itself,
    those of a frame: `function`, `file`, `line`.
    """

    language: str
    hints: tuple[str, ...]  # one of them is in every such text
    frames: tuple[re.Pattern[str], ...]
    library: re.Pattern[str]  # found in "function file" where a frame is not the application's
    headlines: tuple[re.Pattern[str], ...] = ()
    vague_headlines: tuple[re.Pattern[str], ...] = ()  # may be anything, unless frames follow
    end_of_cause: tuple[re.Pattern[str], ...] = ()
    outermost_first: bool = False
    causes_follow: bool = False  # an error right behind the stack of another caused it
    prepare: Callable[[str], str] | None = None  # makes one form of what is printed in several
    read: Callable[["Grammar", str], list[Block]] | None = None  # instead of traces.read

    def is_hinted(self, text: str) -> bool:
        return any(hint in text for hint in self.hints)

    def judged(self, frame: Frame) -> Frame:
        """Return the frame, knowing whether it is a library's."""
        is_library = bool(self.library.search(f"{frame.function} {frame.file}"))
        return Frame(frame.function, frame.file, frame.line, is_library)


def compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.MULTILINE) for pattern in patterns)


def find_all(patterns: tuple[re.Pattern[str], ...], text: str) -> list[re.Match[str]]:
    """Return the matches in the order of the text; at one place, that of the first pattern."""
    found = {
        match.start(): match for pattern in reversed(patterns) for match in pattern.finditer(text)
    }
    return [found[start] for start in sorted(found)]


def stacks_of(grammar: Grammar, text: str) -> list[list[re.Match[str]]]:
    """Return the frames of a text, grouped where nothing is printed between them."""
    stacks: list[list[re.Match[str]]] = []
    for call in find_all(grammar.frames, text):
        if stacks and not text[stacks[-1][-1].end() : call.start()].strip():
            stacks[-1].append(call)
        else:
            stacks.append([call])
    return stacks


def frame_of(match: re.Match[str]) -> Frame:
    group = match.groupdict()
    line = group.get("line")
    return Frame(
        function=(group.get("function") or "").strip(),
        file=(group.get("file") or "").strip(),
        line=int(line) if line else None,
    )


def block_of(headline: re.Match[str]) -> Block:
    group = headline.groupdict()
    printed, code = group.get("type") or "", group.get("code") or ""
    message = (group.get("message") or "").strip()
    shown = f"{printed} [{code}]" if printed and code else printed
    return Block(
        error_type=code if code and printed in {"", "Error", "AggregateError"} else printed,
        message=message,
        error_line=message
        if _is_part_of_message(headline)
        else error_line(shown, message.partition("\n")[0]),
        relation=_relation(group),
        frames=[frame_of(headline)] if group.get("file") else [],
    )


def error_line(error_type: str, message: str) -> str:
    return ": ".join(part for part in (error_type, message) if part)


def _is_part_of_message(headline: re.Match[str]) -> bool:
    """Return whether the type was found inside the message."""
    if not {"type", "message"} <= headline.re.groupindex.keys() or headline["type"] is None:
        return False
    return headline.start("message") <= headline.start("type") < headline.end("message")


def _relation(group: dict[str, str | None]) -> Relation:
    if group.get("cause"):
        return Relation.CAUSE
    return Relation.WRAPPER if group.get("wrapper") else Relation.NONE

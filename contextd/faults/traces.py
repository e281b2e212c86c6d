"""Find the error of a text by the stack that was printed with it."""

import re
from dataclasses import dataclass, field, replace
from os.path import splitext

from contextd.faults.fault import Fault, Frame
from contextd.faults.grammar import (
    CODE_FRAME,
    MESSAGE,
    NAMED_TYPE,
    POINTER,
    Block,
    Grammar,
    Relation,
    block_of,
    find_all,
    frame_of,
)
from contextd.faults.languages import GRAMMARS

_NAME_AND_MESSAGE = re.compile(rf" *(?P<type>(?:[\w$]+\.)*[A-Z][\w$]*): {MESSAGE}$")
_MESSAGE_LINES = 6
_MAX_MARKS = 1_000  # a longer stack repeats itself
_DIALECTS = {
    ".kt": "kotlin", ".kts": "kotlin", ".scala": "scala", ".groovy": "groovy",
    ".ts": "typescript", ".tsx": "typescript",
}  # fmt: skip
# What may stand between the frames of one stack, and between a message and its stack.
_INSIDE_A_STACK = re.compile(r"[ #(<*]|at |from |\.\.\.|---|\d+:|$")
_BEFORE_A_STACK = re.compile(
    r" *(?:note: |stack backtrace|\[?stack ?trace|backtrace:|traceback|goroutine \d|\[signal "
    r"|0x[0-9a-f]+ in |\(gdb\)|\d+ {4}|at \w+$|(?:current )?thread 0x|python runtime state|$)",
    re.IGNORECASE,
)


def find(text: str) -> Fault | None:
    """Return the first error that was printed with a stack, and the chain of its causes."""
    grammar = grammar_of(text)
    if grammar is None:
        return None
    prepared = grammar.prepare(text) if grammar.prepare else text
    chains = _chains((grammar.read or read)(grammar, prepared))
    if not chains:
        return None
    chain = next((chain for chain in chains if any(block.frames for block in chain)), chains[0])
    fault, *causes = (_fault(grammar, block) for block in chain)
    return replace(fault, causes=tuple(causes))


def grammar_of(text: str) -> Grammar | None:
    """Return the grammar of the first stack in a text."""
    first: dict[int, Grammar] = {}
    for grammar in GRAMMARS:
        if grammar.is_hinted(text):
            for pattern in (*grammar.headlines, *grammar.frames):
                if match := pattern.search(text):
                    first.setdefault(match.start(), grammar)
    return first[min(first)] if first else None


def read(grammar: Grammar, text: str) -> list[Block]:
    """Return the errors of a text in which headlines stand over their stacks."""
    reading = _Reading()
    end = 0
    for mark in _marks(grammar, text):
        if mark.re in grammar.frames:
            reading.take_frame(frame_of(mark), text[end : mark.start()])
        elif mark.re in grammar.end_of_cause:
            reading.close_cause()
        else:
            block = block_of(mark)
            if grammar.causes_follow and reading.is_behind_a_stack(text[end : mark.start()]):
                block.relation = Relation.CAUSE
            reading.take_headline(block)
        end = mark.end()
    return reading.blocks


@dataclass
class _Reading:
    """The errors read so far; the last of the open ones owns the frames that come."""

    blocks: list[Block] = field(default_factory=list)
    open: list[Block] = field(default_factory=list)
    has_just_begun: bool = False  # the last thing read was a headline

    def take_headline(self, block: Block) -> None:
        if block.relation is Relation.NONE:
            self.open.clear()
        self.open.append(block)
        self.blocks.append(block)
        self.has_just_begun = True

    def is_behind_a_stack(self, before: str) -> bool:
        return bool(self.open) and not self.has_just_begun and before.strip(" ") in {"", "\n"}

    def take_frame(self, frame: Frame, before: str) -> None:
        if self.has_just_begun:
            self.open[-1].continue_message(_message_lines(before))
        elif not self.open or _is_interrupted(before):
            self.take_headline(_block_of_lines(before))
        self.open[-1].frames.append(frame)
        self.has_just_begun = False

    def close_cause(self) -> None:
        if len(self.open) > 1:
            self.open.pop()


def _marks(grammar: Grammar, text: str) -> list[re.Match[str]]:
    """Return headlines, frames and ends in the order of the text."""
    patterns = (*grammar.headlines, *grammar.vague_headlines, *grammar.end_of_cause)
    return find_all((*patterns, *grammar.frames), text)[:_MAX_MARKS]


def _is_interrupted(between: str) -> bool:
    """Return whether something else was printed since the last frame."""
    return any(not _INSIDE_A_STACK.match(line) for line in between.split("\n")[1:-1])


def _message_lines(before: str) -> list[str]:
    return [line.strip() for line in _informative_lines(before.split("\n")[1:])][:_MESSAGE_LINES]


def _informative_lines(lines: list[str]) -> list[str]:
    return [
        line for line in lines if not (_BEFORE_A_STACK.match(line) or CODE_FRAME.fullmatch(line))
    ]


def _block_of_lines(before: str) -> Block:
    """Return the error told by what stands over a stack, where no headline was recognised.

    That is the last line; where lines above it are less indented, the one that begins them all.
    """
    telling = [
        line for line in _informative_lines(before.split("\n")) if not POINTER.fullmatch(line)
    ]
    lines = telling[-_MESSAGE_LINES:] or [""]
    line, *details = lines[_beginning(lines) :]
    named = _NAME_AND_MESSAGE.match(line) or NAMED_TYPE.search(line)
    block = block_of(named) if named else Block("", line.strip(), line.strip())
    block.continue_message([detail.strip() for detail in details])
    return block


def _beginning(lines: list[str]) -> int:
    """Return where the last line's block begins: at the nearest less indented lines above."""
    place = len(lines) - 1
    for above in range(place, -1, -1):
        if _indentation(lines[above]) < _indentation(lines[place]):
            place = above
    return place


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _chains(blocks: list[Block]) -> list[list[Block]]:
    """Return each error with its causes, the nearest first."""
    chains: list[list[Block]] = []
    for block in blocks:
        if block.relation is Relation.NONE or not chains:
            chains.append([block])
        elif block.relation is Relation.CAUSE:
            chains[-1].append(block)
        else:
            chains[-1].insert(0, block)
    return chains


def _fault(grammar: Grammar, block: Block) -> Fault:
    return block.fault(_dialect(grammar, block.frames), map(grammar.judged, block.frames))


def _dialect(grammar: Grammar, frames: list[Frame]) -> str:
    suffix = next((splitext(frame.file)[1] for frame in frames if frame.file), "")
    return _DIALECTS.get(suffix, grammar.language)

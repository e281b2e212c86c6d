"""Compare errors by the names in their stacks, and recognize the same error again."""

import hashlib
from collections.abc import Sequence
from pathlib import PurePosixPath

from contextd.faults.families import type_name
from contextd.faults.fault import Fault, Frame
from contextd.faults.normalize import normalize

_DEEPEST = 20
_MAX_FRAMES = 200  # looked at: recursion repeats the same few


def signature(fault: Fault) -> tuple[str, ...]:
    """Return the calls of an error as `function|file`, lower-case, innermost first, each once.

    The stack of the root cause stands first. Frames of libraries count only where there are no
    others: every test run has the same ones.
    """
    frames = [frame for part in (*reversed(fault.causes), fault) for frame in part.frames]
    own = [frame for frame in frames if not frame.is_library]
    components = dict.fromkeys(_component(frame) for frame in (own or frames)[:_MAX_FRAMES])
    return tuple(components)[:_DEEPEST]


def stack_overlap(one: Sequence[str], other: Sequence[str]) -> float:
    """Return how much two signatures share, from 0 to 1, whatever their order.

    The component at position i of a signature weighs 1 / (i + 1), so the innermost weigh most;
    the overlap is what the shared components weigh in both, of what all weigh in both.
    """
    shared = set(one) & set(other)
    total = sum(1 / (place + 1) for stack in (one, other) for place in range(len(stack)))
    common = sum(
        1 / (place + 1)
        for stack in (one, other)
        for place, component in enumerate(stack)
        if component in shared
    )
    return common / total if total else 0.0


def fingerprint(fault: Fault, printed: str, error_type: str = "") -> str:
    """Return the same hash for an error that occurs again: of type, message and signature.

    The type that the text prints counts before the one that a caller names, and packages do not
    count. Where the message is a guess, all that was `printed` counts, as focused and normalised.
    """
    is_read = fault.error_type and not fault.is_guessed
    message = normalize(fault.message) if is_read else printed
    named = fault.error_type if is_read else error_type or fault.error_type
    parts = (type_name(named), message.rstrip(" .!"), *signature(fault))
    return hashlib.sha256("\0".join(parts).lower().encode("utf-8", "replace")).hexdigest()


def _component(frame: Frame) -> str:
    file = PurePosixPath(frame.file.replace("\\", "/")).name
    return f"{normalize(frame.function)}|{file}".lower()

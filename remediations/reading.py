"""Reads an error: what it is found by, and what two errors are compared by."""

from dataclasses import dataclass
from functools import lru_cache

from contextd import faults

ENOUGH_WORDS = 2
"""An error with fewer informative words is vague."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The line that tells an error and what else was printed, without what varies between runs.

    `calls` are those of its stack, innermost first.
    """

    headline: str
    details: str
    error_type: str
    calls: tuple[str, ...]
    fingerprint: str

    @property
    def text(self) -> str:
        return f"{self.headline}\n{self.details}".strip()

    def found_by(self, solution: str) -> tuple[str, str]:
        """Return headline and body of what is searched."""
        return self.headline, f"{self.details}\n{solution}".strip()

    @property
    def is_vague(self) -> bool:
        """Whether it says only that something failed, as `KeyError` and `exit code 1` do."""
        return len(faults.informative_words(self.text)) < ENOUGH_WORDS


@lru_cache(maxsize=64)
def read(error_message: str, stack_trace: str, error_type: str = "") -> Reading:
    """Without a type, the one that the text tells."""
    printed = _as_printed(error_message, stack_trace)
    fault = faults.parse(printed)
    kind = error_type or fault.error_type
    headline = faults.normalize(_error_line(error_message))
    focused = faults.normalize(faults.focus(printed))
    details = focused.removeprefix(headline).strip()
    return Reading(
        headline=headline,
        details=details if kind.lower() in printed.lower() else f"{kind}\n{details}".strip(),
        error_type=kind,
        calls=faults.signature(fault),
        fingerprint=faults.fingerprint(fault, focused, kind),
    )


def _as_printed(error_message: str, stack_trace: str) -> str:
    """Both as one text, without saying the message twice."""
    if not stack_trace or stack_trace in error_message:
        return error_message
    return stack_trace if error_message in stack_trace else f"{error_message}\n{stack_trace}"


def _error_line(error_message: str) -> str:
    return faults.parse(error_message).error_line or error_message

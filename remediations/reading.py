"""Parse an error into what it is indexed and compared by."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

from contextd import faults

ENOUGH_WORDS = 2
"""Informative words below which an error is vague."""


@dataclass(frozen=True)
class Reading:
    """The line that names the error and the rest of the output, without parts that vary by run.

    `error_line` is the line as printed. `calls` are the stack's function calls, innermost first.
    """

    headline: str
    details: str
    error_type: str
    calls: tuple[str, ...]
    fingerprint: str
    error_line: str

    @property
    def text(self) -> str:
        return f"{self.headline}\n{self.details}".strip()

    def found_by(self, solution: str) -> tuple[str, str]:
        """Return the headline and body to index."""
        return self.headline, f"{self.details}\n{solution}".strip()

    @cached_property  # each match of a search asks for it
    def is_vague(self) -> bool:
        """Return whether it says only that something failed, like `KeyError` or `exit code 1`."""
        has_words = len(faults.informative_words(self.text)) >= ENOUGH_WORDS
        return not has_words and not faults.is_specific(self.text)


@lru_cache(maxsize=64)
def read(error_message: str, stack_trace: str, error_type: str = "") -> Reading:
    """Parse an error; a missing type is taken from the text."""
    printed = _as_printed(error_message, stack_trace)
    fault = faults.parse(printed)
    kind = error_type or fault.error_type
    error_line = _error_line(error_message)
    headline = faults.normalize(error_line)
    focused = _focused(printed)
    details = _below(headline, focused)
    return Reading(
        headline=headline,
        details=details if kind.lower() in printed.lower() else f"{kind}\n{details}".strip(),
        error_type=kind,
        calls=faults.signature(fault),
        fingerprint=faults.fingerprint(fault, focused, kind),
        error_line=error_line,
    )


def begins_with(error_message: str, stack_trace: str, read: Reading) -> bool:
    """Return whether an error has the same error line and starts with the same output.

    It may go on with output that the reading lacks.
    """
    headline = faults.normalize(_error_line(error_message))
    if headline != read.headline or not read.details:
        return headline == read.headline
    details = _below(headline, _focused(_as_printed(error_message, stack_trace)))
    return f"{details}\n".startswith(f"{read.details}\n")


@lru_cache(maxsize=64)  # fixes of one error often have the same text, which may be long
def _focused(printed: str) -> str:
    return faults.normalize(faults.focus(printed))


def _below(headline: str, focused: str) -> str:
    return focused.removeprefix(headline).strip()


def _as_printed(error_message: str, stack_trace: str) -> str:
    """Join both texts, without repeating the message."""
    if not stack_trace or stack_trace in error_message:
        return error_message
    return stack_trace if error_message in stack_trace else f"{error_message}\n{stack_trace}"


def _error_line(error_message: str) -> str:
    return faults.parse(error_message).error_line or error_message

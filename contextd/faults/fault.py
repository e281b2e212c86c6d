"""What an error says, as data."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Frame:
    """One call of a stack, as printed."""

    function: str
    file: str
    line: int | None = None
    is_library: bool = field(default=False, compare=False)  # not the application's own


@dataclass(frozen=True)
class Fault:
    """An error: its type or code, its message, where it happened and what caused it.

    `frames` stand innermost first. `causes` is the whole chain, the nearest cause first and the
    root last; a cause has no causes of its own. What is unknown is empty.
    `is_guessed` says that the text has no known form: only its first or last words describe it.
    """

    error_type: str = ""
    message: str = ""
    error_line: str = ""
    frames: tuple[Frame, ...] = ()
    causes: tuple["Fault", ...] = ()
    language: str = ""
    is_guessed: bool = field(default=False, compare=False)

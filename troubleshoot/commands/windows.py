"""What commands of Windows lose; its names and options ignore case."""

import re

from troubleshoot.commands.rules import Rule, always
from troubleshoot.commands.shell import Invocation

# `del` is also a word of Python, and `rmdir` a program of Unix.
_OF_WINDOWS = re.compile(
    r"/[a-z]|[a-z]:.*|.*\*.*|-(?:recurse|force)"
    r"|.*\.(?:bak|cfg|csv|db|dll|dmp|exe|ini|json|lock|log|tmp|txt|xml|ya?ml|zip)",
    re.IGNORECASE,
)
_DRIVE = re.compile(r"[a-z]:", re.IGNORECASE)


def _deletes(invocation: Invocation) -> str | None:
    return "it deletes files" if any(map(_OF_WINDOWS.fullmatch, invocation.arguments)) else None


def _removes(invocation: Invocation) -> str | None:
    """A cmdlet reads the names of files from its arguments or from the pipe."""
    return "it deletes files" if invocation.arguments or invocation.fed_by else None


def _formats(invocation: Invocation) -> str | None:
    return "it erases the disk" if any(map(_DRIVE.fullmatch, invocation.arguments)) else None


def _with_words(what: str, *words: str) -> Rule:
    return lambda invocation: (
        what if {word.lower() for word in invocation.arguments} & set(words) else None
    )


_MACHINE_DOWN = always("the machine goes down")
_DISK_ERASED = always("it erases the disk")
RULES: dict[str, Rule] = {
    "clear-content": always("it empties the files"),
    "clear-disk": _DISK_ERASED,
    "del": _deletes,
    "erase": _deletes,
    "format": _formats,
    "format-volume": _DISK_ERASED,
    "rd": _deletes,
    "remove-item": _removes,
    "restart-computer": _MACHINE_DOWN,
    "ri": _deletes,
    "rmdir": _with_words("it deletes the folder with all that is in there", "/s", "-recurse"),
    "stop-computer": _MACHINE_DOWN,
    "stop-process": _with_words("the process cannot save its work", "-force"),
    "taskkill": _with_words("the process cannot save its work", "/f"),
}

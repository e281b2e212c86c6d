"""Judges programs without a rule of their own, by the verb of their command."""

import re

from troubleshoot.commands.rules import LOOKING, command_words
from troubleshoot.commands.shell import Invocation

_VERBS = {
    "del": "deletes", "delete": "deletes", "destroy": "destroys", "drop": "drops",
    "erase": "erases", "purge": "purges", "reset": "resets", "wipe": "wipes",
}  # fmt: skip
_OPTIONS = {
    f"{dashes}{verb}": what
    for verb, what in _VERBS.items()
    for dashes in ("-", "--")
    if verb not in {"del", "reset"}
}
# Their operands are texts, files or names, not commands.
_WORD_TAKERS = {
    "[", "ack", "ag", "alias", "apropos", "awk", "basename", "cat", "cd", "code", "cp", "cut",
    "diff", "dirname", "echo", "egrep", "emacs", "export", "fgrep", "file", "gawk", "grep", "head",
    "help", "jq", "less", "ln", "ls", "make", "man", "mkdir", "more", "mv", "nano", "printf",
    "read", "rg", "rmdir", "sed", "set", "sort", "source", "stat", "tail", "tar", "tee", "test",
    "tldr", "touch", "tr", "tput", "type", "uniq", "unset", "vi", "vim", "wc", "whereis", "which",
    "yq",
}  # fmt: skip
_PROGRAM = re.compile(r"[a-z][a-z0-9.+_-]*")
_COMMAND_WORDS = 2


def by_verb(invocation: Invocation) -> str | None:
    """Say what the command deletes, as in `vagrant destroy` or `rabbitmqctl purge_queue mail`."""
    program = invocation.program
    if program in _WORD_TAKERS or not _PROGRAM.fullmatch(program):
        return None
    for word in command_words(invocation)[:_COMMAND_WORDS]:
        if word in LOOKING:
            return None
        if verb := next((_VERBS[part] for part in _parts(word) if part in _VERBS), None):
            return f"it {verb} what is named"
    return next(
        (
            f"it {_OPTIONS[option]} what is named"
            for option in sorted(invocation.options & {*_OPTIONS})
        ),
        None,
    )


def _parts(word: str) -> list[str]:
    """The first and the last part: `purge_queue`, `delete-topic`, `firestore:delete`."""
    parts = re.split(r"[-_:]", word)
    return [parts[0], parts[-1]] if ":" in word else parts[:1]

"""Judges commands by their verb, such as `vagrant destroy` or `aws ecr batch-delete-image`."""

import re
from collections.abc import Callable

from troubleshoot.commands.rules import LOOKING, Rule
from troubleshoot.commands.shell import Invocation

_VERBS = {
    "del": "deletes", "delete": "deletes", "destroy": "destroys", "drop": "drops",
    "erase": "erases", "purge": "purges", "reset": "resets", "wipe": "wipes",
}  # fmt: skip
_PLATFORM_VERBS = _VERBS | {
    "deletion": "deletes", "rb": "deletes", "remove": "removes", "rm": "removes",
    "terminate": "terminates", "unregister": "deletes",
}  # fmt: skip
_OPTIONS = {
    f"{dashes}{verb}": what
    for verb, what in _VERBS.items()
    for dashes in ("-", "--")
    if verb not in {"del", "reset"}
}
# On platforms these are names of services and resources too: `aws logs`, `az appservice plan`.
_NOUNS = {
    "auth", "events", "history", "images", "info", "logs", "output", "plan", "status", "template",
    "version",
}  # fmt: skip
# Behind these verbs follow names, which may contain any word.
_HARMLESS = (LOOKING - _NOUNS) | {
    "add", "checkout", "clone", "config", "cp", "create", "edit", "exec", "export", "filter", "g",
    "generate", "head", "import", "install", "invoke", "lookup", "make", "mv", "new", "open", "put",
    "query", "read", "scan", "set", "ssh", "start", "sync", "tail", "test", "update", "upload",
    "view", "wait",
}  # fmt: skip
# Options without a value; the word behind any other option may be its value.
_FLAGS = {
    "-f", "-m", "-q", "-r", "-y", "--app-only", "--async", "--debug", "--force", "--no-cli-pager",
    "--no-paginate", "--no-sign-request", "--no-verify-ssl", "--no-wait", "--only-show-errors",
    "--quiet", "--recursive", "--verbose", "--yes",
}  # fmt: skip
WORD_TAKERS = {
    # texts and files
    "[", "ack", "ag", "alias", "apropos", "awk", "basename", "bat", "cat", "cd", "code", "cut",
    "diff", "dirname", "echo", "egrep", "emacs", "export", "fd", "fgrep", "file", "findstr", "gawk",
    "getent", "grep", "head", "help", "hexdump", "jq", "less", "ln", "locate", "ls", "make", "man",
    "mkdir", "more", "nano", "pgrep", "printf", "read", "rg", "sed", "select-string", "set", "sort",
    "source", "stat", "strings", "stty", "tail", "tar", "test", "tldr", "touch", "tput", "tr",
    "tree", "type", "uniq", "unset", "vi", "vim", "wc", "whereis", "which", "xzgrep", "yq", "zcat",
    "zgrep", "zless",
    # tests
    "ctest", "jest", "mocha", "nosetests", "phpunit", "playwright", "pytest", "rspec", "tox",
    "vitest",
    # hosts
    "dig", "host", "mtr", "nc", "ncat", "nmap", "nslookup", "openssl", "ping", "ping6", "telnet",
    "tracepath", "traceroute", "whois",
}  # fmt: skip
"""Programs whose operands are texts, files or names, not commands."""
_PROGRAM = re.compile(r"[a-z][a-z0-9.+_-]*")
_WORD = re.compile(r"[A-Za-z][\w.:-]*")


def _by_verb(verbs: dict[str, str], depth: int, parts_of: Callable[[str], list[str]]) -> Rule:
    """Look for a verb in the parts of the first `depth` words."""

    def rule(invocation: Invocation) -> str | None:
        for word in invocation.words(_may_take_value)[:depth]:
            parts = parts_of(word) if _WORD.fullmatch(word) else [""]
            if parts[0] in _HARMLESS:
                return None
            if verb := next((part for part in parts if part in verbs), None):
                return f"it {verbs[verb]} what is named"
        option = min(invocation.options & _OPTIONS.keys(), default=None)
        return f"it {_OPTIONS[option]} what is named" if option else None

    return rule


def _may_take_value(option: str) -> bool:
    return "=" not in option and option not in _FLAGS


def _first_parts(word: str) -> list[str]:
    """Return `purge` of `purge_queue`, and `firestore` and `delete` of `firestore:delete`."""
    return [re.split(r"[-_]", part)[0] for part in word.split(":")]


by_platform_verb = _by_verb(_PLATFORM_VERBS, 6, re.compile(r"[-_:.]").split)
"""Judges `gcloud compute images delete web`: nested commands with many words before the verb."""

_by_unknown_verb = _by_verb(_VERBS, 2, _first_parts)


def by_verb(invocation: Invocation) -> str | None:
    """Judge a program that has no rule, unless its operands are no commands."""
    program = invocation.program
    is_judged = program not in WORD_TAKERS and _PROGRAM.fullmatch(program)
    return _by_unknown_verb(invocation) if is_judged else None

"""Tells which commands of a language model only look: they change, send and download nothing."""

import re

from contextd.syntax import TooHard
from troubleshoot import commands
from troubleshoot.commands import rules, shell
from troubleshoot.commands.shell import Invocation

_PROGRAMS = {
    "basename", "cat", "cmp", "cut", "df", "diff", "dirname", "du", "echo", "free", "getconf",
    "getfacl", "grep", "groups", "head", "id", "jq", "ls", "lsblk", "lscpu", "lsof", "md5sum",
    "namei", "netstat", "nproc", "pgrep", "printenv", "ps", "pstree", "pwd", "readlink",
    "realpath", "sha256sum", "stat", "strings", "tail", "test", "tr", "uname", "uptime", "vmstat",
    "wc", "which", "whoami",
}  # fmt: skip
_SUBCOMMANDS = {
    "docker": {
        "diff",
        "images",
        "info",
        "inspect",
        "logs",
        "port",
        "ps",
        "stats",
        "top",
        "version",
    },
    "git": {"blame", "describe", "diff", "log", "ls-files", "rev-parse", "show", "status"},
    "go": {"version"},
    "helm": {"version"},
    "kubectl": {"describe", "explain", "get", "logs", "top", "version"},
    "npm": {"list", "ls"},
    "pip": {"check", "freeze", "show"},
    "systemctl": {"cat", "is-active", "is-enabled", "list-timers", "list-units", "show", "status"},
    "terraform": {"version"},
}
# Programs that only look without these options.
_UNLESS = {
    "dmesg": {
        "-C", "-c", "-D", "-E", "-n", "--clear", "--console-level", "--console-off", "--console-on",
        "--read-clear",
    },
    "find": {
        "-delete", "-exec", "-execdir", "-fls", "-fprint", "-fprint0", "-fprintf", "-ok", "-okdir",
    },
    "git": {"-O", "--ext-diff", "--output"},
    "journalctl": {
        "--cursor-file", "--flush", "--relinquish-var", "--rotate", "--setup-keys",
        "--smart-relinquish-var", "--sync", "--update-catalog", "--vacuum-files", "--vacuum-size",
        "--vacuum-time",
    },
    "kubectl": {
        "-k", "-s", "--cache-dir", "--kubeconfig", "--kustomize", "--profile-output", "--raw",
        "--server",
    },
    "lsof": {"-D"},
    "npm": {"--cache", "--logs-dir"},
    "pip": {"--cache-dir", "--log", "--log-file", "--python"},
    "printf": {"-v"},
    "sort": {"-o", "-T", "--compress-program", "--files0-from", "--output"},
    "ss": {"-D", "-K", "--diag", "--kill"},
    "systemctl": {"-H", "--host"},
}  # fmt: skip
_ALLOWED = _PROGRAMS | (_UNLESS.keys() - _SUBCOMMANDS.keys())
_DISCARDED = re.compile(r"[12&]?> ?/dev/null|2>&1")
# A substitution, redirection, address, assignment, declaration, or a program by its path.
_BEYOND = re.compile(
    r"""[`<>]|\$[({]|://|(?:^|[;&|({\n]|\b(?:do|then|else|sudo)\b)\s*(?:\w+=|[^\s;&|'"]*[/\\])"""
    r"""|\b(?:declare|export|function|local|readonly|typeset)\b"""
)


def only_looks(command: str) -> bool:
    """Whether each of its programs is known to change, send and download nothing."""
    script = _DISCARDED.sub(" ", command)
    if _BEYOND.search(script) or commands.dangers(script):
        return False
    try:
        found = shell.invocations(script)
    except TooHard:
        return False
    return bool(found) and all(map(_is_allowed, found))


def _is_allowed(invocation: Invocation) -> bool:
    program, arguments = invocation.program, invocation.arguments
    if program == "sudo":
        started = invocation.after(0)
        return started is not None and _is_allowed(started)
    if arguments == ("--version",) or (program, *arguments) == ("ulimit", "-a"):
        return True
    if invocation.uses(*_UNLESS.get(program, ())):
        return False
    # Options before the command of other programs may run or send something.
    words = rules.command_words(invocation) if program == "kubectl" else arguments
    return program in _ALLOWED or bool({*words[:1]} & _SUBCOMMANDS.get(program, set()))

"""Goes through a script and asks the rules."""

import re
from collections.abc import Container, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from contextd.syntax import TooHard
from troubleshoot.commands import programs, rules, shell, sql, verbs
from troubleshoot.commands.rules import Rule
from troubleshoot.commands.shell import Invocation

MAX_DEPTH = 4
"""So far are programs followed that start others: `sudo env sh -c "..."`."""

UNSEEN = "it runs what another command prints, unseen"
UNREADABLE = "it is too complex to determine what it does"
# Programs that run the rest of their line, and options of theirs that take a value.
_STARTERS = {
    "sudo": {
        *("-u", "-g", "-h", "-p", "-C", "-r", "-t", "-D", "-R", "-T", "-U"),
        *("--user", "--group", "--host", "--prompt", "--chdir", "--role", "--type", "--close-from"),
    },
    "doas": {"-u", "-C"}, "env": {"-u", "-C", "--unset", "--chdir"}, "nohup": set(),
    "time": {"-f", "-o", "--format", "--output"}, "nice": {"-n", "--adjustment"},
    "ionice": {"-c", "-n", "-p", "--class", "--classdata"},
    "timeout": {"-s", "-k", "--signal", "--kill-after"}, "watch": {"-n", "--interval"},
    "xargs": {
        *("-I", "-n", "-P", "-L", "-d", "-a", "-s", "-E", "--max-args", "--max-procs"),
        *("--max-lines", "--delimiter", "--arg-file"),
    },
    "command": set(), "exec": set(), "setsid": set(), "stdbuf": {"-i", "-o", "-e"},
    "busybox": set(), "strace": {"-o", "-p", "-e"}, "npx": {"-p", "--package"}, "bunx": set(),
    "pnpx": set(), "bundle": set(), "uv": set(), "poetry": set(), "pdm": set(), "pipenv": set(),
    "yarn": {"--cwd"}, "pnpm": {"-C", "--dir", "--filter"}, "npm": {"--prefix"},
}  # fmt: skip
_MANAGERS = {"bundle", "uv", "poetry", "pdm", "pipenv", "yarn", "pnpm", "npm"}
_RUNNING = {"exec", "run", "dlx", "x"}
# What managers of packages do themselves under the name of a program.
_OWN_VERBS = {"rm", "unlink", "prune", "git", "kill"}
_SHELLS = {
    "sh", "bash", "zsh", "dash", "ksh", "fish", "su", "pwsh", "powershell", "cmd",
    "iex", "Invoke-Expression",
}  # fmt: skip
_REMOTE = {"ssh": 1, "kubectl": 0, "oc": 0, "docker": 0, "podman": 0, "docker-compose": 0}
SQL_CLIENTS = {
    "psql", "mysql", "mariadb", "sqlite3", "sqlcmd", "cockroach", "clickhouse-client", "duckdb",
}  # fmt: skip
_OF_SSH = {"-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-b", "-c", "-D", "-E", "-m", "-W"}
_STATEMENTS = {"DROP", "TRUNCATE", "DELETE", "ALTER", "UPDATE"}
_DOWNLOADED = re.compile(r"\s*(?:\$\(|<\(|`)\s*(?:curl|wget|fetch|iwr|irm)\b")
_PROMPT = re.compile(
    r"^[ \t]*(?:\$|#|%|>|PS [^>\n]*>|[\w.@~:/+-]+[$#%]|\[[^\]\n]*\][$#]|\w*[=('\"*!^-][#>]"
    r"|(?:mysql|sqlite|MariaDB \[[^\]\n]*\]|[\w.]+:\d+)>|\w+=[#>]) +",
    re.MULTILINE,
)


@lru_cache(maxsize=1024)
def dangers(command: str) -> tuple[str, ...]:
    """What the command would destroy; empty when it is safe as far as can be read."""
    script = _PROMPT.sub("", command[: shell.MAX_LENGTH])
    try:
        invocations = shell.invocations(script)
        found = [what for invocation in invocations for what in _of(invocation, deeper=MAX_DEPTH)]
    except TooHard:
        return (UNREADABLE,)
    statements = [script] if sql.is_sql(script) else map(_as_typed, invocations)
    found += [what for statement in statements for what in sql.dangers(statement)]
    return tuple(dict.fromkeys(found))


def _as_typed(invocation: Invocation) -> str:
    """A statement, where a client was started on the line before; its words are in capitals."""
    words = (invocation.program, *invocation.arguments)
    return " ".join(words) if invocation.program in _STATEMENTS else ""


def _of(invocation: Invocation, *, deeper: int) -> Iterator[str]:
    for target in invocation.writes_to:
        if what := programs.of_redirection(invocation, target):
            yield what
    if _runs_unseen(invocation):
        yield UNSEEN
    rule = _rule_of(invocation.program)
    if rule and not rules.is_dry(invocation) and (what := rule(invocation)):
        yield what
    if deeper:
        yield from _of_started(invocation, deeper - 1)


def _rule_of(program: str) -> Rule | None:
    """Return that of its verb for a program that is not known and starts no other."""
    rule = programs.rule_for(program)
    return rule if rule or program in _STARTERS else verbs.by_verb


def _runs_unseen(invocation: Invocation) -> bool:
    arguments = invocation.arguments
    if invocation.program in _SHELLS:
        return bool(invocation.fed_by) or any(
            word.startswith("<(") or (word.startswith(("$(", "`")) and option.endswith("c"))
            for option, word in zip(("", *arguments), arguments, strict=False)
        )
    is_evaluating = invocation.program in {"eval", "source", "."}
    return is_evaluating and any(map(_DOWNLOADED.match, arguments))


def _of_started(invocation: Invocation, deeper: int) -> Iterator[str]:
    """Of what the program starts, or has another program do."""
    for started in _started(invocation):
        yield from _of(started, deeper=deeper)
    for script in _scripts(invocation):
        for inner in shell.invocations(script):
            yield from _of(inner, deeper=deeper)
    if invocation.program in SQL_CLIENTS:
        for text in (*map(_value, invocation.arguments), invocation.reads):
            yield from sql.dangers(_PROMPT.sub("", text))


def _value(argument: str) -> str:
    """Of an option, where it is written together with it: `--command=x`, `-cx`."""
    if argument.startswith("--"):
        return argument.partition("=")[2]
    return argument[2:] if argument.startswith("-") else argument


def _started(invocation: Invocation) -> Iterator[Invocation]:
    arguments = invocation.arguments
    places: list[int] = []
    if invocation.program in _STARTERS:
        places = [_first_started(invocation)]
    elif invocation.program == "find":
        executes = {"-exec", "-execdir", "-ok", "-okdir"}
        places = [n + 1 for n, word in enumerate(arguments) if word in executes]
    elif invocation.program in _REMOTE and "--" in arguments:
        places = [_place(arguments, {"--"})]
    for place in places:
        if (found := invocation.after(place)) and not _is_own_verb(invocation, found):
            fed = invocation.program == "xargs"
            yield replace(found, arguments=(*found.arguments, "{}")) if fed else found
    if invocation.program in {"docker", "podman", "kubectl", "docker-compose"}:
        yield from _started_in_container(invocation)


def _first_started(invocation: Invocation) -> int:
    arguments, program = invocation.arguments, invocation.program
    place = _first_operand(arguments, _STARTERS[program])
    if program == "timeout":
        return place + 1
    if program in _MANAGERS and {*arguments[place : place + 1]} & _RUNNING:
        rest = arguments[place + 1 :]
        return place + 1 + _first_operand(rest, {"--package", "-p", "--with", "--python"})
    return place


def _is_own_verb(manager: Invocation, started: Invocation) -> bool:
    place = _first_operand(manager.arguments, _STARTERS.get(manager.program, set()))
    is_direct = manager.arguments[place : place + 1] == (started.program,)
    is_own = started.program in _OWN_VERBS or not is_known(started.program)
    return manager.program in _MANAGERS and is_direct and is_own


def _started_in_container(invocation: Invocation) -> Iterator[Invocation]:
    """Where nothing separates it from the options, any program we know may be it."""
    verbs = {"exec", "run"}
    if not verbs & set(rules.command_words(invocation)[:3]) or "--" in invocation.arguments:
        return
    after = _place(invocation.arguments, verbs)
    for place, word in enumerate(invocation.arguments[after:], after):
        if is_known(word.rpartition("/")[2]) and (found := invocation.after(place)):
            yield found
            return


def is_known(program: str) -> bool:
    return program in _SHELLS | SQL_CLIENTS or programs.rule_for(program) is not None


def _scripts(invocation: Invocation) -> Iterator[str]:
    """Shell scripts that it is given as an argument or as its input."""
    arguments = invocation.arguments
    if invocation.program in _SHELLS:
        yield invocation.reads
        for place, option in enumerate(arguments[:-1]):
            if option in {"/c", "-Command"} or (option[:1] == "-" and option.endswith("c")):
                yield arguments[place + 1]
    elif invocation.program == "eval":
        yield " ".join(arguments)
    elif invocation.program == "watch":
        yield " ".join(arguments[_first_operand(arguments, _STARTERS["watch"]) :])
    elif invocation.program == "ansible":
        given = pairwise(arguments)
        yield from (script for option, script in given if option in {"-a", "--args"})
    elif invocation.program == "ssh":
        place = _first_operand(arguments, _OF_SSH)
        yield " ".join(arguments[place + 1 :])
        yield invocation.reads


def _first_operand(arguments: tuple[str, ...], with_value: Container[str]) -> int:
    place = 0
    while place < len(arguments):
        word = arguments[place]
        if not word.startswith("-") and "=" not in word.partition("/")[0]:
            break
        place += 2 if word in with_value else 1
    return place


def _place(arguments: tuple[str, ...], words: set[str]) -> int:
    """Behind the first of the words; behind everything when there is none."""
    return next((n + 1 for n, word in enumerate(arguments) if word in words), len(arguments))

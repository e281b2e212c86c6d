"""Decide which commands of a script destroy something."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from contextd.syntax import TooHard
from troubleshoot.commands import files, programs, rules, shell, sql, starters, verbs
from troubleshoot.commands.rules import Rule
from troubleshoot.commands.shell import Invocation

MAX_DEPTH = 4
"""Limit of programs that start each other: `sudo env sh -c "..."`."""

UNSEEN = "it runs what another command prints, unseen"
UNREADABLE = "it is too complex to determine what it does"
_STATEMENTS = {"DROP", "TRUNCATE", "DELETE", "ALTER", "UPDATE"}
_DOWNLOADERS = {"curl", "wget", "fetch", "iwr", "irm"}
_DOWNLOADED = re.compile(rf"\s*(?:\$\(|<\(|`)\s*(?:{'|'.join(sorted(_DOWNLOADERS))})\b")
# `# text of a comment` is no command of root, and `> file.log` empties the file.
_PROMPT = re.compile(
    r"^[ \t]*(?:\$|%|#(?![^\n]* (?:would|will|should|is|are|the|this|that|not)\b)"
    r"|>(?! +(?:(?!\./)[^\s/]*/\S+|[\w-]+\.(?:conf|csv|json|log|sql|txt|ya?ml))[ \t]*$)"
    r"|PS [^>\n]*>|[\w.@~:/+-]+[$#%]|\[[^\]\n]*\][$#]|\w*[=('\"*!^-][#>]"
    r"|(?:mysql|sqlite|MariaDB \[[^\]\n]*\]|[\w.]+:\d+)>|\w+=[#>]) +",
    re.MULTILINE,
)
_CLIENT_LINE = re.compile(
    rf"^(?:sudo .*)?(?:{'|'.join(sorted(programs.DATA_CLIENTS))})(?: .*)?$", re.MULTILINE
)
_MONGO_LINE = re.compile(r"^[ \t]*db\.[^\n]*", re.MULTILINE)


@lru_cache(maxsize=1024)
def dangers(command: str) -> tuple[str, ...]:
    """Return what the command would destroy; empty when it is safe as far as can be read."""
    script = _PROMPT.sub("", command[: shell.MAX_LENGTH])
    try:
        commands = list(_commands(script))
        found = [what for one in commands for what in _of(one, deeper=MAX_DEPTH)]
    except TooHard:
        return (UNREADABLE,)
    for statement in [script] if sql.is_sql(script) else map(_as_statement, commands):
        found += sql.dangers(statement)
    return tuple(dict.fromkeys(found))


def _commands(script: str) -> Iterator[Invocation]:
    yield from shell.invocations(script)
    if client := _CLIENT_LINE.search(script):  # the next lines are typed into it
        typed = script[client.end() :]
        yield from (replace(one, reads=typed) for one in shell.invocations(client[0]))
    if statements := _MONGO_LINE.findall(script):
        yield Invocation("mongosh", tuple(statements))


def _of(invocation: Invocation, *, deeper: int) -> Iterator[str]:
    for target in invocation.writes_to:
        if what := files.of_redirection(invocation, target):
            yield what
    if _runs_unseen(invocation):
        yield UNSEEN
    rule = _rule_of(invocation.program)
    if rule and not rules.is_dry(invocation) and (what := rule(invocation)):
        yield what
    yield from _of_sql(invocation)
    if deeper:
        yield from _of_started(invocation, deeper - 1)


def _rule_of(program: str) -> Rule | None:
    """Return the rule of its verb for a program that is not known and starts no other."""
    rule = programs.rule_for(program)
    return rule if rule or program in starters.STARTERS else verbs.by_verb


def _runs_unseen(invocation: Invocation) -> bool:
    arguments = invocation.arguments
    if invocation.program in programs.INTERPRETERS and invocation.fed_by in _DOWNLOADERS:
        return set(arguments) <= {"-"}
    if invocation.program in starters.SHELLS | starters.WINDOWS_SHELLS:
        return bool(invocation.fed_by) or any(
            word.startswith("<(") or (word.startswith(("$(", "`")) and option.endswith("c"))
            for option, word in zip(("", *arguments), arguments, strict=False)
        )
    is_evaluating = invocation.program in {"eval", "source", "."}
    return is_evaluating and any(map(_DOWNLOADED.match, arguments))


def _as_statement(invocation: Invocation) -> str:
    """Return a statement that is typed without a client; its words are in capitals."""
    is_statement = invocation.program in _STATEMENTS
    return " ".join((invocation.program, *invocation.arguments)) if is_statement else ""


def _of_sql(invocation: Invocation) -> Iterator[str]:
    if invocation.program in programs.SQL_CLIENTS:
        for text in (*map(_value, invocation.arguments), invocation.reads):
            yield from sql.dangers(_PROMPT.sub("", text))


def _value(argument: str) -> str:
    """Return the value of an option that is written as one word: `--command=x`, `-cx`."""
    if argument.startswith("--"):
        return argument.partition("=")[2]
    return argument[2:] if argument.startswith("-") else argument


def _of_started(invocation: Invocation, deeper: int) -> Iterator[str]:
    for started in starters.started(invocation):
        yield from _of(started, deeper=deeper)
    for script in starters.scripts(invocation):
        for inner in shell.invocations(script):
            yield from _of(inner, deeper=deeper)

"""Goes through a script, or prose with commands in it, and asks the rules."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from troubleshoot.commands import rules, shell, sql
from troubleshoot.commands.shell import Invocation

DEEPEST = 4
"""So far are programs followed that start others: `sudo env sh -c "..."`."""

# Programs that run the rest of their line, and options of theirs that take a value.
_STARTERS = {
    "sudo": {"-u", "-g", "-h", "-p", "-C", "-r", "-t"}, "doas": {"-u", "-C"}, "env": {"-u", "-C"},
    "nohup": set(), "time": {"-f", "-o"}, "nice": {"-n"}, "ionice": {"-c", "-n", "-p"},
    "timeout": {"-s", "-k"}, "watch": {"-n"}, "xargs": {"-I", "-n", "-P", "-L", "-d", "-a"},
    "command": set(), "exec": set(), "setsid": set(), "stdbuf": {"-i", "-o", "-e"}, "npx": {"-p"},
    "bundle": set(), "busybox": set(), "uv": set(), "poetry": set(), "strace": {"-o", "-p", "-e"},
}  # fmt: skip
_SKIPPED = {"timeout": 1, "bundle": 1, "uv": 1, "poetry": 1}
_SHELLS = {"sh", "bash", "zsh", "dash", "ksh", "fish", "su", "pwsh", "powershell", "cmd"}
_REMOTE = {"ssh": 1, "kubectl": 0, "oc": 0, "docker": 0, "podman": 0, "docker-compose": 0}
_SQL_CLIENTS = {
    "psql", "mysql", "mariadb", "sqlite3", "sqlcmd", "cockroach", "clickhouse-client", "duckdb",
}  # fmt: skip

_PROGRAMS = "|".join(re.escape(name) for name in sorted(rules.RULES, key=len, reverse=True))
# Behind an article a program's name is a noun.
_COMMAND_IN_PROSE = re.compile(
    r"(?<![\w./$-])(?<!\b[Tt]he )(?<!\b[Aa] )(?<!\b[Aa]n )"
    rf"(?:sudo +)?(?:{_PROGRAMS}|mkfs(?:\.\w+)?)(?= +\S)"
)
_STATEMENT_IN_PROSE = re.compile(
    r"(?<!\w)(?:DROP|TRUNCATE|DELETE +FROM|ALTER +TABLE)(?= )", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.,:!?)](?:\s|$)|[;(\u2014]|\s(?:[-\u2013]|and|or|then)\s")
_FENCED = re.compile(r"^ *(```+|~~~+)[^\n]*\n(.*?)^ *\1", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_PROMPT = re.compile(r"^\s*(?:\$|#|>|PS [^>\n]*>|[\w.@~-]+[$#]) +", re.MULTILINE)


@lru_cache(maxsize=4096)
def dangers(command: str) -> tuple[str, ...]:
    """What the command would destroy; empty when it is safe as far as can be read."""
    script = _PROMPT.sub("", command)
    found = [
        what for invocation in shell.invocations(script) for what in _of(invocation, deeper=DEEPEST)
    ]
    if sql.is_sql(script):
        found += sql.dangers(script)
    return tuple(dict.fromkeys(found))


def dangers_in_prose(text: str) -> tuple[str, ...]:
    """Of the commands that a text tells to run, in code or between its words."""
    code = [match[2] for match in _FENCED.finditer(text)]
    text = _FENCED.sub("\n", text)
    code += _INLINE.findall(text)
    told = _told(_INLINE.sub(" ", text))
    return tuple(dict.fromkeys(what for part in (*code, *told) for what in dangers(part)))


def _told(prose: str) -> Iterator[str]:
    """From a program's name to the end of its sentence."""
    for pattern in (_COMMAND_IN_PROSE, _STATEMENT_IN_PROSE):
        for match in pattern.finditer(prose):
            line = prose[match.start() :].partition("\n")[0]
            yield _SENTENCE_END.split(line, maxsplit=1)[0]


def _of(invocation: Invocation, *, deeper: int) -> Iterator[str]:
    for target in invocation.writes_to:
        if what := rules.of_redirection(target):
            yield what
    if invocation.program in _SHELLS and invocation.fed_by:
        yield "it runs what another command prints, unseen"
    rule = rules.rule_for(invocation.program)
    if rule and not rules.is_dry(invocation) and (what := rule(invocation)):
        yield what
    if deeper:
        yield from _of_started(invocation, deeper - 1)


def _of_started(invocation: Invocation, deeper: int) -> Iterator[str]:
    """Of what the program starts, or has another program do."""
    for started in _started(invocation):
        yield from _of(started, deeper=deeper)
    for script in _scripts(invocation):
        for inner in shell.invocations(script):
            yield from _of(inner, deeper=deeper)
    if invocation.program in _SQL_CLIENTS:
        for text in (*invocation.arguments, invocation.reads):
            yield from sql.dangers(text)


def _started(invocation: Invocation) -> Iterator[Invocation]:
    arguments = invocation.arguments
    if invocation.program in _STARTERS:
        place = _first_operand(arguments, _STARTERS[invocation.program])
        found = invocation.after(place + _SKIPPED.get(invocation.program, 0))
        if found and invocation.program == "xargs":
            found = replace(found, arguments=(*found.arguments, "{}"))
    elif invocation.program == "find":
        executes = {"-exec", "-execdir", "-ok"}
        found = invocation.after(_place(arguments, executes))
    elif invocation.program in _REMOTE and "--" in arguments:
        found = invocation.after(_place(arguments, {"--"}))
    else:
        found = None
    if found:
        yield found
    if invocation.program in {"docker", "podman", "kubectl", "docker-compose"}:
        yield from _started_in_container(invocation)


def _started_in_container(invocation: Invocation) -> Iterator[Invocation]:
    """Where nothing separates it from the options, any program we know may be it."""
    verbs = {"exec", "run"}
    if not verbs & set(invocation.operands[:3]) or "--" in invocation.arguments:
        return
    after = _place(invocation.arguments, verbs)
    known = _SHELLS | _SQL_CLIENTS | rules.RULES.keys()
    for place, word in enumerate(invocation.arguments[after + 1 :], after + 1):
        if word.rpartition("/")[2] in known and (found := invocation.after(place)):
            yield found
            return


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
    elif invocation.program == "ssh":
        place = _first_operand(arguments, {"-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R"})
        yield " ".join(arguments[place + 1 :])


def _first_operand(arguments: tuple[str, ...], with_value: set[str]) -> int:
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

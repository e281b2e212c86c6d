"""Finds the commands and scripts that a program starts: `sudo`, `xargs`, `ssh`, `bash -c`."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from troubleshoot.commands import programs, rules, shell, verbs
from troubleshoot.commands.shell import Invocation

# Programs that run the rest of their line, and their options that take a value.
_WITH_VALUE = {
    "sudo": "-u -g -h -p -C -r -t -D -R -T -U --user --group --host --prompt --chdir --role --type"
    " --close-from",
    "doas": "-u -C", "pkexec": "--user", "runuser": "-u -g -G -s -c", "gosu": "", "su-exec": "",
    "chroot": "", "entr": "",
    "env": "-u -C -S --unset --chdir --split-string", "command": "", "exec": "-a", "nohup": "",
    "setsid": "", "time": "-f -o --format --output", "nice": "-n --adjustment",
    "ionice": "-c -n -p --class --classdata", "timeout": "-s -k --signal --kill-after",
    "flock": "-w -E -c --timeout --command", "taskset": "", "stdbuf": "-i -o -e", "busybox": "",
    "nsenter": "-t --target", "unshare": "", "systemd-run": "-p -u --unit --property",
    "strace": "-o -p -e", "ltrace": "-o -p -e", "caffeinate": "-t -w",
    "xargs": "-I -n -P -L -d -a -s -E --max-args --max-procs --max-lines --delimiter --arg-file",
    "foreach-object": "", "wsl": "-d -u --distribution --user",
    "npx": "-p --package", "bunx": "", "pnpx": "", "bundle": "", "uv": "", "poetry": "", "pdm": "",
    "pipenv": "", "yarn": "--cwd", "pnpm": "-C --dir --filter", "npm": "--prefix",
    "python": "-c -W -X", "py": "-c -W -X", "ruby": "-e -r -I -C", "php": "-r -d -c",
    "node": "-e -r -p --eval --require --import", "perl": "-e -E -I",
}  # fmt: skip
STARTERS = {program: frozenset(options.split()) for program, options in _WITH_VALUE.items()}
# Their first operand is a duration, a user, a folder, a file or `{`.
_WITH_OPERAND = {
    "timeout", "gosu", "su-exec", "chroot", "flock", "taskset", "foreach-object",
}  # fmt: skip
_MANAGERS = {"bundle", "uv", "poetry", "pdm", "pipenv", "yarn", "pnpm", "npm"}
_RUNNING = {"exec", "run", "dlx", "x"}
_OF_MANAGER = frozenset({"--package", "-p", "--with", "--python"})
# Commands of package managers that have the name of a program.
_OWN_VERBS = {"rm", "unlink", "prune", "git", "kill"}
# Options whose next word is a command.
_EXECUTING = {
    "find": {"-exec", "-execdir", "-ok", "-okdir"},
    "fd": {"-x", "-X", "--exec", "--exec-batch"},
    "git": {"foreach", "--exec"},
}  # fmt: skip
_GIVES_OPERANDS = {"xargs", "fd"}
_CONTAINERS = {"docker", "podman", "nerdctl", "kubectl", "oc", "docker-compose", "heroku"}
_CONTAINER_FLAGS = re.compile(
    r"-[itdTqP]+|--(?:rm|interactive|tty|stdin|detach|privileged|init|no-deps|no-TTY|.*=.*)"
)

SHELLS = {"sh", "bash", "zsh", "dash", "ksh", "fish", "su", "iex", "invoke-expression"}
WINDOWS_SHELLS = {"pwsh", "powershell", "cmd"}
_POWERSHELL_VALUES = frozenset({"-executionpolicy", "-ep", "-version", "-windowstyle", "-file"})
_SHELL_SCRIPT = re.compile(r"-[a-zA-Z]*c")
# Options whose value is a script.
_SCRIPT_OPTIONS = {
    "env": {"-S", "--split-string"},
    "runuser": {"-c", "--command"},
    "flock": {"-c", "--command"},
    "script": {"-c", "--command"},
    "vagrant": {"-c", "--command"},
    "gcloud": {"--command"},
    "fly": {"-C", "--command"},
    "flyctl": {"-C", "--command"},
    "nix-shell": {"--run", "--command"},
    "ansible": {"-a", "--args"},
}
# Programs whose operands, joined, are a script, and their options that take a value.
_JOINING = {
    "eval": frozenset[str](),
    "watch": frozenset({"-n", "--interval"}),
    "parallel": frozenset({"-j", "--jobs", "-a", "--arg-file", "--colsep"}),
    "ssh": frozenset(f"-{letter}" for letter in "pilobcmDEFJLRW"),
}


def started(invocation: Invocation) -> Iterator[Invocation]:
    """Yield the commands among the arguments of a program."""
    for place in sorted({*_places(invocation)}):
        if (found := invocation.after(place)) and " " not in invocation.arguments[place]:
            given = ("{}",) if invocation.program in _GIVES_OPERANDS else ()
            yield replace(found, arguments=(*found.arguments, *given))


def _places(invocation: Invocation) -> Iterator[int]:
    arguments, program = invocation.arguments, invocation.program.lower()
    if program in STARTERS and not _is_own_verb(invocation):
        yield _first_started(invocation)
    executing = _EXECUTING.get(program, set())
    yield from (place + 1 for place, word in enumerate(arguments) if word in executing)
    if "--" in arguments:
        if program not in verbs.WORD_TAKERS | {"git"}:
            yield arguments.index("--") + 1
    elif program in _CONTAINERS:
        yield from _places_in_container(invocation)


def _first_started(invocation: Invocation) -> int:
    arguments, program = invocation.arguments, invocation.program.lower()
    place = _first_operand(arguments, STARTERS[program])
    if program in _MANAGERS and {*arguments[place : place + 1]} & _RUNNING:
        return place + 1 + _first_operand(arguments[place + 1 :], _OF_MANAGER)
    return place + (program in _WITH_OPERAND)


def _is_own_verb(manager: Invocation) -> bool:
    if manager.program not in _MANAGERS:
        return False
    place = _first_operand(manager.arguments, STARTERS[manager.program])
    word = "".join(manager.arguments[place : place + 1])
    return word not in _RUNNING and (word in _OWN_VERBS or not is_known(word))


def _places_in_container(invocation: Invocation) -> Iterator[int]:
    """Yield the place behind the container, and that of the first program that is known."""
    arguments = invocation.arguments
    running = [place for place, word in enumerate(arguments) if word in {"exec", "run"}]
    if not running or not {"exec", "run"} & {*rules.command_words(invocation)[:3]}:
        return
    after = running[0] + 1
    yield (
        after
        + 1
        + _first_operand_of(
            arguments[after:], lambda option: not _CONTAINER_FLAGS.fullmatch(option)
        )
    )
    known = (n for n, word in enumerate(arguments) if n >= after and is_known(word))
    yield from (place for place in [next(known, None)] if place is not None)


def is_known(word: str) -> bool:
    """Whether the word is a program with a rule, or one that reads commands or SQL."""
    name = shell.program_name(word.partition(" ")[0])
    is_reader = name in SHELLS | WINDOWS_SHELLS | programs.SQL_CLIENTS
    return is_reader or programs.rule_for(name) is not None


def scripts(invocation: Invocation) -> Iterator[str]:
    """Yield the shell scripts among its arguments and in its input."""
    arguments, program = invocation.arguments, invocation.program.lower()
    for place in {*_places(invocation)}:
        yield from (word for word in arguments[place : place + 1] if " " in word)
    if program in SHELLS | {"at", "ssh"}:
        yield invocation.reads
    if program in SHELLS:
        yield from _values(arguments, lambda option: bool(_SHELL_SCRIPT.fullmatch(option)))
    elif program in WINDOWS_SHELLS:
        yield _of_windows(arguments)
    elif program in _SCRIPT_OPTIONS:
        yield from _values(arguments, _SCRIPT_OPTIONS[program].__contains__)
    elif program == "trap":
        yield "".join(invocation.operands[:1])
    elif program in _JOINING:
        place = _first_operand(arguments, _JOINING[program])
        yield " ".join(arguments[place + (program == "ssh") :])


def _values(arguments: tuple[str, ...], is_wanted: Callable[[str], bool]) -> Iterator[str]:
    words = [word for word in arguments if word != "--"]
    for option, following in zip(words, [*words[1:], ""], strict=False):
        name, _, value = option.partition("=")
        if option.startswith("-") and is_wanted(name):
            yield value or following


def _of_windows(arguments: tuple[str, ...]) -> str:
    """Return all that follows `/c` or `-Command`, which may also be left out."""
    lowered = tuple(word.lower() for word in arguments)
    starts = (n + 1 for n, word in enumerate(lowered) if re.match(r"/[ck]|-c", word))
    place = next(starts, _first_operand(lowered, _POWERSHELL_VALUES))
    return " ".join(arguments[place:])


def _first_operand(arguments: tuple[str, ...], with_value: frozenset[str]) -> int:
    return _first_operand_of(arguments, lambda option: shell.takes_value(option, with_value))


def _first_operand_of(arguments: tuple[str, ...], takes_value: Callable[[str], bool]) -> int:
    """Return the place of the first word that is no option, value or assignment."""
    place = 0
    while place < len(arguments):
        word = arguments[place]
        if not word.startswith("-") and "=" not in word.partition("/")[0]:
            break
        place += 2 if word.startswith("-") and takes_value(word) else 1
    return place

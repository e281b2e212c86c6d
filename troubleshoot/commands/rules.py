"""Builds rules: each says what the invocation of a program would lose, or None."""

from collections.abc import Callable
from itertools import takewhile

from troubleshoot.commands.shell import Invocation, takes_value

Rule = Callable[[Invocation], str | None]

_DRY = {
    "--dry-run", "--dryrun", "--what-if", "-whatif", "--simulate", "--help", "--version", "-help",
    "-version",
}  # fmt: skip
_OFF = {"none", "false", "no", "0"}
# A program with one of these commands only looks, whatever words follow.
LOOKING = {
    "auth", "can-i", "describe", "diff", "events", "explain", "get", "help", "history", "images",
    "info", "inspect", "is-active", "is-enabled", "lint", "list", "logs", "ls", "output", "plan",
    "preview", "ps", "search", "show", "status", "template", "top", "validate", "version",
}  # fmt: skip
# Options of any program that stand before the command and take a value.
_WITH_VALUE = {
    "-n", "--namespace", "--context", "--kubeconfig", "-f", "--file", "-p", "--project-name",
    "--profile", "--env-file", "-H", "--host", "--cluster", "--project-directory", "-R", "--repo",
    "-u", "--user", "-h", "-P", "--port", "--log-level",
}  # fmt: skip


def always(what: str) -> Rule:
    return lambda invocation: what


def with_options(what: str, *options: str) -> Rule:
    """Match an invocation with one of these options."""
    return lambda invocation: what if invocation.uses(*options) else None


def with_words(what: str, *phrases: str) -> Rule:
    """Match operands that begin with one of these phrases, without the options between them."""
    wanted = [phrase.split() for phrase in phrases]

    def rule(invocation: Invocation) -> str | None:
        # Some of those options take no value in some programs: `systemctl -f reboot`.
        readings = (command_words(invocation), invocation.words(lambda option: False))
        return what if any(_begins(words, wanted) for words in readings) else None

    return rule


def command_words(invocation: Invocation) -> tuple[str, ...]:
    return invocation.words(lambda option: takes_value(option, _WITH_VALUE))


def _begins(words: tuple[str, ...], wanted: list[list[str]]) -> bool:
    for start in range(3):  # the value of another global option may stand before the command
        if any(list(words[start : start + len(phrase)]) == phrase for phrase in wanted):
            return True
        if words[start : start + 1] and words[start] in LOOKING:
            return False
    return False


def unless(rule: Rule, *options: str) -> Rule:
    """Let pass what one of these options makes harmless."""
    return lambda invocation: None if invocation.options & set(options) else rule(invocation)


def unless_looking(rule: Rule) -> Rule:
    return lambda invocation: (
        None if LOOKING & set(command_words(invocation)[:1]) else rule(invocation)
    )


def first_of(*rules: Rule) -> Rule:
    return lambda invocation: next((what for rule in rules if (what := rule(invocation))), None)


def is_dry(invocation: Invocation) -> bool:
    """Whether it only says what it would do; `-h` is also a host, and people's readable sizes."""
    if invocation.arguments == ("-h",):
        return True
    before = takewhile(lambda argument: argument != "--", invocation.arguments)
    return any(
        option.lower() in _DRY and value.lower() not in _OFF
        for option, _, value in (argument.partition("=") for argument in before)
    )

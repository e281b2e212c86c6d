"""What rules are made of: each says of a program's invocation what would be lost, or nothing."""

from collections.abc import Callable

from troubleshoot.commands.shell import Invocation

Rule = Callable[[Invocation], str | None]

_DRY = {
    "--dry-run", "--dryrun", "--what-if", "-whatif", "--simulate", "--help", "--version", "-help",
    "-version",
}  # fmt: skip
_OFF = {"none", "false", "no", "0"}
# With these as the command a program only looks, whatever words follow.
LOOKING = {
    "auth", "can-i", "describe", "diff", "events", "explain", "get", "help", "history", "images",
    "info", "inspect", "is-active", "is-enabled", "lint", "list", "logs", "ls", "output", "plan",
    "preview", "ps", "search", "show", "status", "template", "top", "validate", "version",
}  # fmt: skip
# Options that stand before the command and take a value, of whatever program.
_WITH_VALUE = {
    "-n", "--namespace", "--context", "--kubeconfig", "-f", "--file", "-p", "--project-name",
    "--profile", "--env-file", "-H", "--host", "--cluster", "--project-directory", "-R", "--repo",
    "-u", "--user", "-h", "-P", "--port", "--log-level",
}  # fmt: skip


def always(what: str) -> Rule:
    return lambda invocation: what


def with_options(what: str, *options: str) -> Rule:
    """When it has one of these options."""
    return lambda invocation: what if invocation.options & set(options) else None


def with_words(what: str, *phrases: str) -> Rule:
    """When its operands begin with one of these phrases, options before and between them aside."""
    wanted = [phrase.split() for phrase in phrases]

    def rule(invocation: Invocation) -> str | None:
        # Some of those options take no value in some programs: `systemctl -f reboot`.
        readings = (command_words(invocation), invocation.operands)
        return what if any(_begins(words, wanted) for words in readings) else None

    return rule


def command_words(invocation: Invocation) -> tuple[str, ...]:
    return invocation.words(_WITH_VALUE)


def _begins(words: tuple[str, ...], wanted: list[list[str]]) -> bool:
    for start in range(3):  # the value of another global option may stand before the command
        if any(list(words[start : start + len(phrase)]) == phrase for phrase in wanted):
            return True
        if words[start : start + 1] and words[start] in LOOKING:
            return False
    return False


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
    return any(
        option.lower() in _DRY and value.lower() not in _OFF
        for option, _, value in (argument.partition("=") for argument in invocation.arguments)
    )

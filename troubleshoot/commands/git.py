"""What commands of git lose."""

import re

from troubleshoot.commands.rules import Rule, always, first_of, with_options, with_words
from troubleshoot.commands.shell import Invocation

_WITH_VALUE = {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix"}
UNCOMMITTED = "changes that are not committed are lost"


# `notes.txt`, but not the branches `v1.x` and `feature/login`
_FILE = re.compile(r"(?:.*/)?\w*[A-Za-z_-]\.(?:[ch]|[a-z]{2,5})")


_ON_NO_OTHER = "commits that are on no other branch are lost"


def pushes(invocation: Invocation) -> str | None:
    given = tuple(word for word in invocation.arguments if not word.startswith("-o"))
    push = Invocation("git", given)
    if "-n" in push.options:
        return None
    words = [word for word in invocation.operands if word != "push"][1:]
    forced = push.uses("-f", "--force", "--mirror", "--force-with-lease")
    if forced or any(word.startswith("+") for word in words):
        return "it replaces history at the remote; commits of others may be lost"
    if push.uses("--delete", "-d", "--prune") or any(word.startswith(":") for word in words):
        return "it deletes a branch or tag at the remote"
    return None


def checks_out(invocation: Invocation) -> str | None:
    options, words = invocation.options, invocation.operands[1:]
    if "-B" in options:
        return _ON_NO_OTHER
    creates = options & {"-b", "-t", "--orphan", "--track"}
    names_files = (len(words) > 1 and not creates) or any(map(_FILE.fullmatch, words))
    forced = invocation.uses("-f", "--force") or {"--", "."} & set(invocation.arguments)
    return UNCOMMITTED if forced or names_files else None


def restores(invocation: Invocation) -> str | None:
    staged_only = "--staged" in invocation.options and "--worktree" not in invocation.options
    return None if staged_only else UNCOMMITTED


def cleans(invocation: Invocation) -> str | None:
    forced = invocation.uses("-f", "--force") and "-n" not in invocation.options
    return "files that git does not know are deleted" if forced else None


def removes_tracked(invocation: Invocation) -> str | None:
    return None if "--cached" in invocation.options else "it deletes the files too"


_GIT: dict[str, Rule] = {
    "reset": with_options(UNCOMMITTED, "--hard", "--merge"),
    "push": pushes,
    "clean": cleans,
    "checkout": checks_out,
    "restore": restores,
    "rm": removes_tracked,
    # Without -d, --force moves the branch.
    "branch": with_options(_ON_NO_OTHER, "-D", "-f", "--force"),
    "switch": first_of(
        with_options(UNCOMMITTED, "-f", "--force", "--discard-changes"),
        with_options(_ON_NO_OTHER, "-C", "--force-create"),
    ),
    "stash": with_words("what was stashed is lost", "stash drop", "stash clear"),
    "filter-branch": always("it rewrites all history"),
    "filter-repo": always("it rewrites all history"),
    "lfs": with_words("it rewrites all history", "lfs migrate import", "lfs migrate export"),
    "reflog": with_words(
        "commits on no branch cannot be found again", "reflog expire", "reflog delete"
    ),
    "gc": with_options("commits on no branch are deleted now", "--prune"),
    "prune": always("commits on no branch are deleted now"),
    "submodule": with_options("changes in the submodule are lost", "-f", "--force"),
    "update-ref": with_options("it deletes a reference", "-d"),
    "worktree": with_options("changes in the work tree are lost", "--force", "-f"),
}


def git(invocation: Invocation) -> str | None:
    """Judge the command behind the options of git: `git -C folder -c key=value reset --hard`."""
    words = list(invocation.arguments)
    while words and words[0].startswith("-"):
        del words[: 2 if words[0] in _WITH_VALUE else 1]
    rule = _GIT.get(words[0]) if words else None
    return rule(Invocation("git", tuple(words))) if rule else None

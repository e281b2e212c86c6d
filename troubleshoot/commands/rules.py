"""What programs do that cannot be undone.

A rule is given the invocation of its program and says what would be lost, or nothing.
"""

import re
from collections.abc import Callable

from troubleshoot.commands.shell import Invocation

Rule = Callable[[Invocation], str | None]

_DRY = {"--dry-run", "--dryrun", "--what-if", "-WhatIf", "--simulate", "--help", "-h", "--version"}
_DEVICE = re.compile(r"/dev/(?:sd|nvme|vd|xvd|hd|mmcblk|mapper/|disk|dm-|md)\w*")
_WIDE_OPEN = re.compile(r"0?[0-7]?(?:777|666|000)|a\+?=?rwx|\+rwx")


def always(what: str) -> Rule:
    return lambda invocation: what


def with_options(what: str, *options: str) -> Rule:
    """When it has one of these options."""
    return lambda invocation: what if invocation.options & set(options) else None


def with_words(what: str, *phrases: str) -> Rule:
    """When its operands begin with one of these phrases, options before and between them aside."""
    wanted = [phrase.split() for phrase in phrases]

    def rule(invocation: Invocation) -> str | None:
        words = list(invocation.operands)
        begins = any(
            words[start : start + len(phrase)] == phrase
            for phrase in wanted
            # The value of a global option may stand before the command itself.
            for start in range(3)
        )
        return what if begins else None

    return rule


def first_of(*rules: Rule) -> Rule:
    return lambda invocation: next((what for rule in rules if (what := rule(invocation))), None)


def is_dry(invocation: Invocation) -> bool:
    return bool(invocation.options & _DRY)


def removes_files(invocation: Invocation) -> str | None:
    if not invocation.operands:
        return None
    if invocation.options & {"-r", "-R", "--recursive"}:
        return f"it deletes {' '.join(invocation.operands)[:80]} with all that is in there"
    return f"it deletes {' '.join(invocation.operands)[:80]}"


def opens_wide(invocation: Invocation) -> str | None:
    if not any(_WIDE_OPEN.fullmatch(word) for word in invocation.operands[:1]):
        return None
    return "it lets everybody on the machine change these files, and the modes before are lost"


def changes_many(invocation: Invocation) -> str | None:
    recursive = invocation.options & {"-R", "--recursive"}
    system = any(re.fullmatch(r"/(?:etc|usr|bin|lib|var|opt)?/?", w) for w in invocation.operands)
    return "it changes the owner of system files" if recursive and system else None


def writes_device(invocation: Invocation) -> str | None:
    target = next((word[3:] for word in invocation.arguments if word.startswith("of=")), "")
    return f"it overwrites {target}" if target and target != "/dev/null" else None


def kills(invocation: Invocation) -> str | None:
    signals = {"-9", "-KILL", "-SIGKILL"}
    by_name = "KILL" in " ".join(invocation.arguments) and invocation.options & {"-s", "--signal"}
    if signals & set(invocation.arguments) or by_name:
        return "the process cannot save its work or clean up"
    return None


def finds_and_deletes(invocation: Invocation) -> str | None:
    return "it deletes every file it finds" if "-delete" in invocation.arguments else None


def synchronizes(invocation: Invocation) -> str | None:
    deletes = any(option.startswith("--delete") for option in invocation.options)
    return "it deletes at the target what the source does not have" if deletes else None


def pushes(invocation: Invocation) -> str | None:
    words = [word for word in invocation.operands if word != "push"][1:]
    forced = {"-f", "--force", "--mirror", "--force-with-lease"} & invocation.options
    if forced or any(word.startswith("+") for word in words):
        return "it replaces history at the remote; commits of others may be lost"
    if {"--delete", "-d"} & invocation.options or any(word.startswith(":") for word in words):
        return "it deletes a branch or tag at the remote"
    return None


def checks_out(invocation: Invocation) -> str | None:
    if "--" in invocation.arguments or {"-f", "--force"} & invocation.options:
        return "changes that are not committed are lost"
    return "changes that are not committed are lost" if "." in invocation.operands else None


def restores(invocation: Invocation) -> str | None:
    staged_only = "--staged" in invocation.options and "--worktree" not in invocation.options
    return None if staged_only else "changes that are not committed are lost"


def cleans(invocation: Invocation) -> str | None:
    return "files that git does not know are deleted" if "-f" in invocation.options else None


def removes_tracked(invocation: Invocation) -> str | None:
    return None if "--cached" in invocation.options else "it deletes the files too"


_GIT: dict[str, Rule] = {
    "reset": with_options("changes that are not committed are lost", "--hard", "--merge"),
    "push": pushes,
    "clean": first_of(with_options("files that git does not know are deleted", "--force"), cleans),
    "checkout": checks_out,
    "restore": restores,
    "rm": removes_tracked,
    "branch": with_options("commits that are on no other branch are lost", "-D"),
    "stash": with_words("what was stashed is lost", "stash drop", "stash clear"),
    "filter-branch": always("it rewrites all history"),
    "filter-repo": always("it rewrites all history"),
    "reflog": with_words(
        "commits on no branch cannot be found again", "reflog expire", "reflog delete"
    ),
    "gc": with_options("commits on no branch are deleted now", "--prune"),
    "prune": always("commits on no branch are deleted now"),
    "update-ref": with_options("it deletes a reference", "-d"),
    "worktree": with_options("changes in the work tree are lost", "--force", "-f"),
}


def git(invocation: Invocation) -> str | None:
    """Its options stand before the command: `git -C folder -c key=value reset --hard`."""
    words = list(invocation.arguments)
    while words and words[0].startswith("-"):
        del words[: 2 if words[0] in {"-C", "-c"} else 1]
    rule = _GIT.get(words[0]) if words else None
    if rule is None or (words[0] == "clean" and {"-n", "--dry-run"} & invocation.options):
        return None
    return rule(Invocation("git", tuple(words)))


_CLUSTER = first_of(
    with_words("it deletes objects of the cluster, and what they own", "delete"),
    with_words("it moves everything off the node", "drain"),
)
_CONTAINERS = first_of(
    with_words(
        "it deletes containers, networks, images or build cache that nothing uses now",
        *("system prune", "container prune", "image prune", "network prune", "builder prune"),
    ),
    with_words(
        "it deletes volumes with the data in them",
        *("volume rm", "volume remove", "volume prune"),
    ),
    with_words("it deletes containers or images", "rm", "rmi", "container rm", "image rm"),
    lambda invocation: (
        "it deletes the volumes with the data in them"
        if "down" in invocation.operands and {"-v", "--volumes"} & invocation.options
        else None
    ),
)
_INFRASTRUCTURE = first_of(
    with_words("it destroys what is deployed", "destroy", "workspace delete"),
    with_words("it forgets resources, or a lock that others may hold", "state rm", "force-unlock"),
    with_options("it destroys what is deployed", "-destroy"),
)


def cloud(invocation: Invocation) -> str | None:
    verbs = ("delete", "terminate", "purge", "destroy", "remove")
    for word in invocation.operands:
        if word.split("-")[0].split(":")[-1] in verbs or word in {"rb", "rm"}:
            return "it deletes resources of the cloud account"
    return synchronizes(invocation)


_PACKAGES = with_words(
    "it removes packages others may need", "purge", "remove", "autoremove", "erase"
)


def removes_packages(invocation: Invocation) -> str | None:
    if any(word.startswith("-R") for word in invocation.arguments):
        return "it removes packages others may need"
    return None


def serves_keys(invocation: Invocation) -> str | None:
    command = next((w.upper() for w in invocation.operands if w.isalpha()), "")
    return {
        "FLUSHALL": "it deletes every key of every database",
        "FLUSHDB": "it deletes every key of the database",
        "DEL": "it deletes keys",
        "UNLINK": "it deletes keys",
        "SHUTDOWN": "it ends the server",
    }.get(command)


_SCRIPTED = re.compile(r"\.(?:dropDatabase|drop|deleteMany|deleteOne|remove|dropUser)\s*\(")


def runs_javascript(invocation: Invocation) -> str | None:
    scripts = " ".join(invocation.arguments) + invocation.reads
    return "it deletes data" if _SCRIPTED.search(scripts) else None


_TASKS = {
    "flush": "it empties the database",
    "reset_db": "it drops the database",
    "sqlflush": None,
    "zero": "it undoes all migrations, with the data of their tables",
    "db:drop": "it drops the database",
    "db:reset": "it drops the database and makes it anew",
    "db:schema:load": "it drops the tables and makes them anew",
    "db:wipe": "it drops all tables",
    "migrate:fresh": "it drops all tables",
    "migrate:reset": "it undoes all migrations",
    "migrate:refresh": "it undoes all migrations",
    "downgrade": "columns and tables that the migration added are dropped",
}


def runs_tasks(invocation: Invocation) -> str | None:
    """Of a web framework, whatever starts it: `python manage.py flush`, `rails db:drop`."""
    return next((what for word in invocation.operands if (what := _TASKS.get(word))), None)


_PRISMA = first_of(
    with_words("it drops the database and makes it anew", "migrate reset"),
    with_options("data is lost", "--force-reset", "--accept-data-loss"),
)


def deletes_on_windows(invocation: Invocation) -> str | None:
    """`del` is also a word of Python."""
    looks_like_it = re.compile(r"/[a-zA-Z]|[A-Za-z]:.*|.*\*.*|-(?:Recurse|Force)")
    told = any(looks_like_it.fullmatch(word) for word in invocation.arguments)
    return "it deletes files" if told else None


RULES: dict[str, Rule] = {
    "rm": removes_files,
    "unlink": removes_files,
    "shred": removes_files,
    "srm": removes_files,
    "truncate": with_options("it cuts the file; what is cut off is lost", "-s", "--size"),
    "dd": writes_device,
    "wipefs": with_options("it erases the file system", "-a", "--all", "-o"),
    "parted": with_words("it changes the partitions of a disk", "rm", "mklabel", "mkpart"),
    "lvremove": always("it deletes a volume with its data"),
    "vgremove": always("it deletes volumes with their data"),
    "pvremove": always("it takes a disk out of its volume group"),
    "zfs": with_words("it deletes a file system with its snapshots", "destroy", "rollback"),
    "zpool": with_words("it deletes a pool with its data", "destroy"),
    "cryptsetup": with_words("it overwrites the disk", "luksFormat", "erase"),
    "chmod": opens_wide,
    "chown": changes_many,
    "kill": kills,
    "pkill": kills,
    "killall": always("it ends every process of that name, of whomever it is"),
    "fuser": with_options("it kills whatever uses the file or port", "-k", "--kill"),
    "shutdown": always("the machine goes down"),
    "reboot": always("the machine goes down"),
    "poweroff": always("the machine goes down"),
    "halt": always("the machine goes down"),
    "systemctl": with_words("the machine goes down", "reboot", "poweroff", "halt"),
    "find": finds_and_deletes,
    "rsync": synchronizes,
    "git": git,
    "kubectl": _CLUSTER,
    "oc": _CLUSTER,
    "helm": with_words("it deletes the release and its objects", "uninstall", "delete"),
    "docker": _CONTAINERS,
    "podman": _CONTAINERS,
    "nerdctl": _CONTAINERS,
    "docker-compose": _CONTAINERS,
    "terraform": _INFRASTRUCTURE,
    "tofu": _INFRASTRUCTURE,
    "terragrunt": _INFRASTRUCTURE,
    "pulumi": _INFRASTRUCTURE,
    "cdk": _INFRASTRUCTURE,
    "aws": cloud,
    "gcloud": cloud,
    "gsutil": cloud,
    "az": cloud,
    "heroku": cloud,
    "flyctl": cloud,
    "gh": with_words("it deletes it at GitHub", "repo delete", "release delete", "cache delete"),
    "dropdb": always("it drops a database"),
    "dropuser": always("it drops a database user"),
    "mysqladmin": with_words("it drops a database", "drop"),
    "redis-cli": serves_keys,
    "valkey-cli": serves_keys,
    "mongosh": runs_javascript,
    "mongo": runs_javascript,
    "python": runs_tasks,
    "python3": runs_tasks,
    "manage.py": runs_tasks,
    "django-admin": runs_tasks,
    "rails": runs_tasks,
    "rake": runs_tasks,
    "php": runs_tasks,
    "artisan": runs_tasks,
    "alembic": runs_tasks,
    "flask": runs_tasks,
    "prisma": _PRISMA,
    "dotnet": with_words("it drops the database", "ef database drop"),
    "apt": _PACKAGES,
    "apt-get": _PACKAGES,
    "yum": _PACKAGES,
    "dnf": _PACKAGES,
    "pacman": removes_packages,
    "conda": with_words("it deletes the environment", "env remove"),
    "npm": with_words("it takes a version away from all who use it", "unpublish"),
    "crontab": with_options("it deletes all jobs of the user", "-r"),
    "iptables": with_options("it deletes the rules of the firewall", "-F", "--flush", "-X"),
    "nft": with_words("it deletes the rules of the firewall", "flush"),
    "ufw": with_words("it switches the firewall off", "reset", "disable"),
    "setenforce": with_words("it switches the protection of SELinux off", "0", "Permissive"),
    "userdel": always("it deletes a user"),
    "deluser": always("it deletes a user"),
    "journalctl": with_options(
        "it deletes logs", "--vacuum-size", "--vacuum-time", "--vacuum-files"
    ),
    "del": deletes_on_windows,
    "erase": deletes_on_windows,
    "rd": deletes_on_windows,
    "Remove-Item": deletes_on_windows,
    "taskkill": with_options("the process cannot save its work", "/F"),
}


def rule_for(program: str) -> Rule | None:
    if program.startswith("mkfs"):
        return lambda invocation: "it erases the disk" if invocation.operands else None
    return RULES.get(program)


def of_redirection(target: str) -> str | None:
    return f"it overwrites {target}" if _DEVICE.fullmatch(target) else None

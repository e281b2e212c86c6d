"""What programs do that cannot be undone."""

import re
from itertools import pairwise

from troubleshoot.commands.git import git
from troubleshoot.commands.platforms import (
    CLUSTER,
    CONTAINERS,
    INFRASTRUCTURE,
    cloud,
    synchronizes,
)
from troubleshoot.commands.rules import (
    Rule,
    always,
    first_of,
    with_options,
    with_words,
)
from troubleshoot.commands.shell import Invocation
from troubleshoot.commands.verbs import by_verb

_DEVICE = re.compile(r"/dev/(?:sd|nvme|vd|xvd|hd|mmcblk|mapper/|disk|dm-|md)\w*")
_WIDE_OPEN = re.compile(r"0?[0-7]?(?:777|666|000)|(?:a|[ugo]*o[ugo]*)?[+=]rwxX?")


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
    """`-9`, `-s KILL`, `-n 9`, `--signal=SIGKILL`."""
    arguments = invocation.arguments
    options = [argument for argument in arguments if argument.startswith("-")]
    values = {option.partition("=")[2] or option.lstrip("-") for option in options}
    values |= {value for option, value in pairwise(arguments) if option in {"-s", "-n", "--signal"}}
    signals = {name.upper().removeprefix("S").removeprefix("IG") for name in values}
    if signals & {"9", "KILL"} and "-l" not in arguments:
        return "the process cannot save its work or clean up"
    return None


def finds_and_deletes(invocation: Invocation) -> str | None:
    return "it deletes every file it finds" if "-delete" in invocation.arguments else None


def unless(rule: Rule, *options: str) -> Rule:
    """Options that make it only look, or take back what was planned."""
    return lambda invocation: None if invocation.options & set(options) else rule(invocation)


_PACKAGES = with_words(
    "it removes packages others may need", "purge", "remove", "autoremove", "erase"
)


def removes_packages(invocation: Invocation) -> str | None:
    if any(word.startswith("-R") for word in invocation.arguments):
        return "it removes packages others may need"
    return None


_KEY_COMMANDS = {
    "FLUSHALL": "it deletes every key of every database",
    "FLUSHDB": "it deletes every key of the database",
    "DEL": "it deletes keys",
    "UNLINK": "it deletes keys",
    "SHUTDOWN": "it ends the server",
}
_OF_CONNECTION = {
    "-h", "-p", "-a", "-u", "-n", "-r", "-i", "-s", "--user", "--pass", "--cert", "--key",
}  # fmt: skip


def serves_keys(invocation: Invocation) -> str | None:
    given = " ".join(invocation.words(_OF_CONNECTION))
    commands = (line.split()[:1] for line in (given, *invocation.reads.splitlines()))
    losses = (_KEY_COMMANDS.get(word.upper()) for words in commands for word in words)
    return next((what for what in losses if what), None)


_SCRIPTED = re.compile(
    r"\.(?:dropDatabase|drop|dropIndex(?:es)?|dropRole|dropUser|deleteMany|deleteOne|remove)\s*\("
)


def runs_javascript(invocation: Invocation) -> str | None:
    scripts = " ".join(invocation.arguments) + invocation.reads
    return "it deletes data" if _SCRIPTED.search(scripts) else None


_DELETING_CODE = re.compile(
    r"\bshutil\.rmtree|\bos\.(?:remove|removedirs|rmdir|unlink)\b|\.(?:unlink|rmdir|rmtree)\("
    r"|\b(?:rm|rmdir|unlink)(?:Sync)?\(|\bFileUtils\.rm|\bunlink\b"
)


def runs_code(invocation: Invocation) -> str | None:
    """Given on the command line: `python -c`, `node -e`, `perl -e`, `ruby -e`."""
    pairs = pairwise(invocation.arguments)
    code = [word for option, word in pairs if option in {"-c", "-e", "-E", "-r", "--eval"}]
    return "it deletes files" if any(map(_DELETING_CODE.search, code)) else None


_DELETE_METHOD = re.compile(r"(?:-\w*X|--(?:request|method)=)?DELETE")


def requests_deletion(invocation: Invocation) -> str | None:
    """`-X DELETE`, `-XDELETE`, `--request=DELETE`, `--method=DELETE`; HTTPie's first operand."""
    given = any(map(_DELETE_METHOD.fullmatch, invocation.arguments))
    return "it deletes what is at that address" if given else None


def moves_offsets(invocation: Invocation) -> str | None:
    moves = {"--reset-offsets", "--execute"} <= invocation.options
    return "the group skips messages or reads them again" if moves else None


def elects_unclean(invocation: Invocation) -> str | None:
    return (
        "messages that the new leader lacks are lost" if "unclean" in invocation.arguments else None
    )


def formats_drive(invocation: Invocation) -> str | None:
    given = any(re.fullmatch(r"[a-z]:", word, re.IGNORECASE) for word in invocation.arguments)
    return "it erases the disk" if given else None


_TASKS = {
    "key:generate": "what was encrypted with the key before cannot be read",
    "flush": "it empties the database",
    "reset_db": "it drops the database",
    "sqlflush": None,
    "zero": "it undoes all migrations, with the data of their tables",
    "db:drop": "it drops the database",
    "db:reset": "it drops the database and creates it again",
    "db:schema:load": "it drops the tables and creates them again",
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
    with_words("it drops the database and creates it again", "migrate reset"),
    with_options("data is lost", "--force-reset", "--accept-data-loss"),
)


def deletes_on_windows(invocation: Invocation) -> str | None:
    """`del` is also a word of Python, and `rmdir` one of Unix."""
    looks_like_it = re.compile(r"/[a-z]|[a-z]:.*|.*\*.*|-(?:recurse|force)", re.IGNORECASE)
    names_files = any(looks_like_it.fullmatch(word) for word in invocation.arguments)
    return "it deletes files" if names_files else None


def _forced(what: str, *options: str) -> Rule:
    """Windows ignores case."""
    return lambda invocation: (
        what if {word.lower() for word in invocation.arguments} & set(options) else None
    )


_TASKS_OR_CODE = first_of(runs_tasks, runs_code)

ON_WINDOWS: dict[str, Rule] = {
    "format": formats_drive,
    "del": deletes_on_windows,
    "erase": deletes_on_windows,
    "rd": deletes_on_windows,
    "rmdir": _forced("it deletes the folder with all that is in there", "/s"),
    "remove-item": lambda invocation: "it deletes files" if invocation.arguments else None,
    "taskkill": _forced("the process cannot save its work", "/f"),
    "stop-process": _forced("the process cannot save its work", "-force"),
    "stop-computer": always("the machine goes down"),
    "restart-computer": always("the machine goes down"),
    "format-volume": always("it erases the disk"),
    "clear-disk": always("it erases the disk"),
}
# Found in prose too, where a program without a rule is a word like any other.
_BY_VERB = (
    *("argocd", "consul", "doctl", "eksctl", "etcdctl", "firebase", "fly", "flux", "influx"),
    *("kafka-topics", "kafka-topics.sh", "kind", "lxc", "minikube", "multipass", "nats", "netlify"),
    *(
        "nomad",
        "pip",
        "pip3",
        "pm2",
        "rabbitmqadmin",
        "rabbitmqctl",
        "supabase",
        "vagrant",
        "vault",
    ),
    *("vercel", "virsh", "wrangler"),
)
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
    "killall": unless(
        always("it ends every process of that name, of whomever it is"), "-l", "--list"
    ),
    "fuser": with_options("it kills whatever uses the file or port", "-k", "--kill"),
    "shutdown": unless(always("the machine goes down"), "-c", "--show"),
    "reboot": always("the machine goes down"),
    "poweroff": always("the machine goes down"),
    "halt": always("the machine goes down"),
    "systemctl": with_words("the machine goes down", "reboot", "poweroff", "halt"),
    "find": finds_and_deletes,
    "rsync": synchronizes,
    "git": git,
    "kubectl": CLUSTER,
    "oc": CLUSTER,
    "helm": with_words("it deletes the release and its objects", "uninstall", "delete"),
    "docker": CONTAINERS,
    "podman": CONTAINERS,
    "nerdctl": CONTAINERS,
    "docker-compose": CONTAINERS,
    "terraform": INFRASTRUCTURE,
    "tofu": INFRASTRUCTURE,
    "terragrunt": INFRASTRUCTURE,
    "pulumi": INFRASTRUCTURE,
    "cdk": INFRASTRUCTURE,
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
    "python": _TASKS_OR_CODE,
    "python3": _TASKS_OR_CODE,
    "py": _TASKS_OR_CODE,
    "manage.py": runs_tasks,
    "django-admin": runs_tasks,
    "ruby": _TASKS_OR_CODE,
    "rails": runs_tasks,
    "rake": runs_tasks,
    "php": _TASKS_OR_CODE,
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
    "curl": requests_deletion,
    "http": requests_deletion,
    "https": requests_deletion,
    "wget": requests_deletion,
    "node": runs_code,
    "perl": runs_code,
    "umount": with_options("programs that use it lose what they write", "-l", "-f", "--lazy"),
    "go": with_options("it deletes what was downloaded or built", "-modcache", "-cache"),
    "pg_resetwal": always("committed transactions may be lost"),
    "pg_dropcluster": always("it deletes a database cluster"),
    "kafka-consumer-groups": moves_offsets,
    "kafka-consumer-groups.sh": moves_offsets,
    "kafka-leader-election": elects_unclean,
    "kafka-leader-election.sh": elects_unclean,
    **dict.fromkeys(_BY_VERB, by_verb),
}


def rule_for(program: str) -> Rule | None:
    if program.startswith("mkfs"):
        return lambda invocation: "it erases the disk" if invocation.operands else None
    if re.fullmatch(r"python[\d.]*", program):
        return _TASKS_OR_CODE
    return RULES.get(program) or ON_WINDOWS.get(program.lower().removesuffix(".exe"))


def of_redirection(invocation: Invocation, target: str) -> str | None:
    if _DEVICE.fullmatch(target):
        return f"it overwrites {target}"
    prints_nothing = invocation.program in {":", "true"} or (
        invocation.program == "cat" and invocation.arguments == ("/dev/null",)
    )
    is_file = not target.startswith(("/dev/", "/proc/", "&"))
    return f"it empties {target}" if prints_nothing and is_file else None

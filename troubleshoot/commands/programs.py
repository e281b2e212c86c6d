"""The rules of all programs: what they do that cannot be undone."""

import re
from itertools import pairwise

from troubleshoot.commands import files, windows
from troubleshoot.commands.git import git
from troubleshoot.commands.platforms import (
    CLOUD,
    CLUSTER,
    INFRASTRUCTURE,
    handles_containers,
    synchronizes,
)
from troubleshoot.commands.rules import (
    Rule,
    always,
    first_of,
    unless,
    with_options,
    with_words,
)
from troubleshoot.commands.shell import Invocation
from troubleshoot.commands.verbs import by_platform_verb


def kills(invocation: Invocation) -> str | None:
    """Look for `-9`, `-s KILL`, `-n 9`, `--signal=SIGKILL`."""
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


_REMOVED = "it removes packages others may need"
_PACKAGES = with_words(_REMOVED, "purge", "remove", "autoremove", "erase", "rm", "del")


def removes_packages(invocation: Invocation) -> str | None:
    return _REMOVED if any(word.startswith("-R") for word in invocation.arguments) else None


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
    given = " ".join(invocation.words(_OF_CONNECTION.__contains__))
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
    r"|\b(?:rm|rmdir|unlink)(?:Sync)?\(|\bFileUtils\.rm|\bunlink\b(?!/)"
)
_LITERAL = re.compile(r"""'[^'\n]*'|"[^"\n]*\"""")


def runs_code(invocation: Invocation) -> str | None:
    """Judge the code of `python -c`, `node -e`, `perl -e`, `ruby -e`, or of the input."""
    pairs = pairwise(invocation.arguments)
    given = [word for option, word in pairs if option in {"-c", "-e", "-E", "-r", "--eval"}]
    code = (_LITERAL.sub("''", text) for text in (*given, invocation.reads))
    return "it deletes files" if any(map(_DELETING_CODE.search, code)) else None


_DELETE_METHOD = re.compile(r"(?:-\w*X|--(?:request|method)=)?DELETE")


def requests_deletion(invocation: Invocation) -> str | None:
    """Look for `-X DELETE`, `-XDELETE`, `--request=DELETE` and the operand of HTTPie."""
    given = any(
        _DELETE_METHOD.fullmatch(word) or "/_delete_by_query" in word
        for word in invocation.arguments
    )
    return "it deletes what is at that address" if given else None


def moves_offsets(invocation: Invocation) -> str | None:
    moves = {"--reset-offsets", "--execute"} <= invocation.options
    return "the group skips messages or reads them again" if moves else None


def elects_unclean(invocation: Invocation) -> str | None:
    return (
        "messages that the new leader lacks are lost" if "unclean" in invocation.arguments else None
    )


_TASKS = {
    "key:generate": "what was encrypted with the key before cannot be read",
    "flush": "it empties the database",
    "reset_db": "it drops the database",
    "zero": "it undoes all migrations, with the data of their tables",
    "db:drop": "it drops the database",
    "db:reset": "it drops the database and creates it again",
    "db:migrate:reset": "it drops the database and creates it again",
    "db:schema:load": "it drops the tables and creates them again",
    "db:wipe": "it drops all tables",
    "migrate:fresh": "it drops all tables",
    "migrate:reset": "it undoes all migrations",
    "migrate:refresh": "it undoes all migrations",
    "downgrade": "columns and tables that the migration added are dropped",
}


def names_task(invocation: Invocation) -> str | None:
    return next((what for word in invocation.operands if (what := _TASKS.get(word))), None)


_RUNS_TASKS = first_of(names_task, by_platform_verb)
"""Judges commands of web frameworks: `manage.py flush`, `rails db:drop`."""


_PRISMA = first_of(
    with_words("it drops the database and creates it again", "migrate reset"),
    with_options("data is lost", "--force-reset", "--accept-data-loss"),
)


# They are found in prose too, unlike programs without a rule.
_BY_VERB = {
    "argocd", "bq", "consul", "doctl", "eksctl", "etcdctl", "firebase", "flux", "fly", "flyctl",
    "influx", "kafka-topics", "kafka-topics.sh", "kind", "lxc", "minikube", "mix", "multipass",
    "nats", "netlify", "nomad", "pm2", "rabbitmqadmin", "rabbitmqctl", "s3cmd", "supabase",
    "vagrant", "vault", "vercel", "virsh", "wp", "wrangler",
}  # fmt: skip
NESTED = {"aws", "az", "gcloud", "gh", "gsutil", "heroku", *_BY_VERB}
"""Programs with words before the verb, as in `gcloud projects delete`."""

_TASK_RUNNERS = {
    "alembic", "artisan", "console", "django", "django-admin", "flask", "manage.py", "rails",
    "rake",
}  # fmt: skip
INTERPRETERS = {"node", "perl", "php", "py", "python", "ruby"}
SQL_CLIENTS = {
    "beeline", "clickhouse-client", "cockroach", "cqlsh", "duckdb", "hive", "litecli", "mariadb",
    "mycli", "mysql", "mysqlsh", "pgcli", "psql", "snowsql", "sqlcmd", "sqlite3", "sqlplus",
    "trino", "usql",
}  # fmt: skip
DATA_CLIENTS = SQL_CLIENTS | {"mongo", "mongosh", "redis-cli", "valkey-cli"}
RULES: dict[str, Rule] = {
    "rm": files.removes_files,
    "unlink": files.removes_files,
    "shred": files.removes_files,
    "srm": files.removes_files,
    "rimraf": files.removes_files,
    "cp": files.copies,
    "mv": files.copies,
    "tee": files.copies,
    "truncate": with_options("it cuts the file; what is cut off is lost", "-s", "--size"),
    "dd": files.writes_device,
    "mkfs": files.formats,
    "mke2fs": files.formats,
    "mkswap": files.formats_device,
    "blkdiscard": files.formats,
    "nvme": with_words("it erases the disk", "format", "sanitize"),
    "fdisk": unless(always("it changes the partitions of a disk"), "-l", "--list"),
    "lvreduce": always("what is beyond the new size is lost"),
    "xfs_repair": with_options("the last changes of the file system are lost", "-L"),
    "sgdisk": with_options(
        "it changes the partitions of a disk",
        "-Z",
        "-z",
        "-o",
        "-d",
        "--zap-all",
        "--zap",
        "--clear",
        "--delete",
    ),
    "diskutil": with_words(
        "it erases the disk",
        "eraseDisk",
        "eraseVolume",
        "partitionDisk",
        "zeroDisk",
        "secureErase",
        "apfs deleteContainer",
        "apfs deleteVolume",
    ),
    "wipefs": with_options("it erases the file system", "-a", "--all", "-o"),
    "parted": with_words("it changes the partitions of a disk", "rm", "mklabel", "mkpart"),
    "lvremove": always("it deletes a volume with its data"),
    "vgremove": always("it deletes volumes with their data"),
    "pvremove": always("it takes a disk out of its volume group"),
    "zfs": with_words("it deletes a file system with its snapshots", "destroy", "rollback"),
    "zpool": with_words("it deletes a pool with its data", "destroy"),
    "cryptsetup": with_words("it overwrites the disk", "luksFormat", "erase"),
    "chmod": files.opens_wide,
    "chown": files.changes_owners,
    "kill": kills,
    "pkill": kills,
    "killall": unless(always("it ends every process of that name, of every user"), "-l", "--list"),
    "fuser": with_options("it kills whatever uses the file or port", "-k", "--kill"),
    "shutdown": unless(always("the machine goes down"), "-c", "--show"),
    "reboot": always("the machine goes down"),
    "poweroff": always("the machine goes down"),
    "halt": always("the machine goes down"),
    "telinit": with_words("the machine goes down", "0", "6"),
    "init": with_words("the machine goes down", "0", "6"),
    "systemctl": with_words("the machine goes down", "reboot", "poweroff", "halt"),
    "find": finds_and_deletes,
    "rsync": synchronizes,
    "rclone": first_of(
        with_words("it deletes at the target what the source does not have", "sync"),
        by_platform_verb,
    ),
    "git": git,
    "kubectl": CLUSTER,
    "oc": CLUSTER,
    "helm": with_words("it deletes the release and its objects", "uninstall", "delete"),
    "docker": handles_containers,
    "podman": handles_containers,
    "nerdctl": handles_containers,
    "docker-compose": handles_containers,
    "terraform": INFRASTRUCTURE,
    "tofu": INFRASTRUCTURE,
    "terragrunt": INFRASTRUCTURE,
    "pulumi": INFRASTRUCTURE,
    "cdk": INFRASTRUCTURE,
    "aws": first_of(
        with_words(
            "it replaces the rules of who may use the role", "iam update-assume-role-policy"
        ),
        CLOUD,
    ),
    "gcloud": CLOUD,
    "gsutil": CLOUD,
    "az": unless(CLOUD, "--append"),
    "heroku": CLOUD,
    "gh": first_of(requests_deletion, by_platform_verb),
    "dropdb": always("it drops a database"),
    "dropuser": always("it drops a database user"),
    "mysqladmin": with_words("it drops a database", "drop"),
    "pg_restore": with_options("it drops the objects that it restores", "-c", "--clean"),
    "FLUSHALL": always(_KEY_COMMANDS["FLUSHALL"]),
    "FLUSHDB": always(_KEY_COMMANDS["FLUSHDB"]),
    "hdfs": with_options("it deletes files", "-rm", "-rmr", "-rmdir", "-expunge"),
    "hadoop": with_options("it deletes files", "-rm", "-rmr", "-rmdir", "-expunge"),
    "redis-cli": serves_keys,
    "valkey-cli": serves_keys,
    "mongosh": runs_javascript,
    "mongo": runs_javascript,
    "prisma": _PRISMA,
    "dotnet": with_words("it drops the database", "ef database drop"),
    "apt": _PACKAGES,
    "apt-get": _PACKAGES,
    "yum": _PACKAGES,
    "dnf": _PACKAGES,
    "zypper": _PACKAGES,
    "apk": _PACKAGES,
    "snap": _PACKAGES,
    "pacman": removes_packages,
    "rpm": with_options(_REMOVED, "-e", "--erase"),
    "dpkg": with_options(_REMOVED, "-P", "-r", "--purge", "--remove"),
    "pip": with_words("it deletes what was downloaded and built", "cache purge"),
    "conda": with_words("it deletes the environment", "env remove"),
    "npm": with_words("it takes a version away from all who use it", "unpublish"),
    "wsl": with_options("it deletes the machine with its files", "--unregister"),
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
    "umount": with_options("programs that use it lose what they write", "-l", "-f", "--lazy"),
    "go": with_options("it deletes what was downloaded or built", "-modcache", "-cache"),
    "pg_resetwal": always("committed transactions may be lost"),
    "pg_dropcluster": always("it deletes a database cluster"),
    "kafka-consumer-groups": moves_offsets,
    "kafka-consumer-groups.sh": moves_offsets,
    "kafka-leader-election": elects_unclean,
    "kafka-leader-election.sh": elects_unclean,
    **dict.fromkeys(_BY_VERB, by_platform_verb),
    **dict.fromkeys(_TASK_RUNNERS, _RUNS_TASKS),
    **dict.fromkeys(INTERPRETERS, runs_code),
}


def rule_for(program: str) -> Rule | None:
    return RULES.get(program) or windows.RULES.get(program.lower())

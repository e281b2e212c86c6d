"""Where the embedded servers listen: the same in every process, whether they run or not."""

import hashlib
import re
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

DATABASE = "contextd"
ROLE = "contextd"

# The kernel accepts 107 bytes; libpq, Valkey and the URLs each treat some characters specially.
_MAX_SOCKET_PATH_LENGTH = 107
_PLAIN_PATH = re.compile(r"[A-Za-z0-9._/-]+")


def identity(data_dir: Path) -> str:
    """Return a short name of this data folder, which marks all processes that run for it."""
    path = str(data_dir.resolve())
    return "contextd-" + hashlib.sha256(path.encode()).hexdigest()[:16]


def socket_directory(data_dir: Path) -> Path:
    """Return `run` in the data folder, or a short path if that is too long or unusual."""
    directory = data_dir.resolve() / "run"
    longest = str(directory / "postgres" / ".s.PGSQL.5432")
    if _PLAIN_PATH.fullmatch(longest) and len(longest) <= _MAX_SOCKET_PATH_LENGTH:
        return directory
    # Not TMPDIR, which differs between processes.
    return Path("/tmp") / identity(data_dir)  # noqa: S108  (its owner is checked at start)


def postgres_socket_directory(data_dir: Path) -> Path:
    return socket_directory(data_dir) / "postgres"


def valkey_socket(data_dir: Path) -> Path:
    return socket_directory(data_dir) / "valkey.sock"


def database_url(data_dir: Path) -> str:
    host = quote(str(postgres_socket_directory(data_dir)), safe="")
    return f"postgresql://{ROLE}@{host}/{DATABASE}"


def redis_url(data_dir: Path) -> str:
    return f"unix://{valkey_socket(data_dir)}?db=0"


def as_broker_url(url: str) -> str:
    """Return the same server in kombu's notation, which differs for Unix sockets."""
    parts = urlsplit(url)
    if parts.scheme != "unix":
        return url
    database = parse_qs(parts.query).get("db", ["0"])[0]
    return f"redis+socket://{parts.path}?virtual_host={database}"

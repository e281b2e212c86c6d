"""The web server by itself: `python -m contextd.serving`."""

import os
import signal
import sys
from pathlib import Path

from contextd import garbage, secret_key
from contextd.embedded.processes import Process, Program, Signal, wait_until_let_go

CHECKOUT = Path(__file__).resolve().parent.parent
DATA_DIR = "CONTEXTD_DATA_DIR"

_begun: list[Process] = []


def begin() -> None:
    """Start the web process early, so that its imports overlap those of `up`.

    Call it from the main thread. A first start skips it, because there is no secret key yet.
    """
    if secret_key.path_in(data_dir()).exists():
        _begun.append(program().start())


def process() -> Process:
    """Return the process that was started early, or start one."""
    return _begun.pop() if _begun else program().start()


def program() -> Program:
    """Describe the process. It reads the settings itself, since they take time to read."""
    return Program(
        name="the web server",
        command=[sys.executable, "-m", "contextd.serving"],
        stop=[Signal(signal.SIGTERM, 10)],
        directory=CHECKOUT,
        environment={DATA_DIR: str(data_dir())},
        is_held=True,
    )


def data_dir() -> Path:
    """Return the data folder that the settings use."""
    return Path(os.environ.get(DATA_DIR) or CHECKOUT / ".contextd").expanduser().absolute()


def main() -> None:
    garbage.put_off()
    import uvicorn

    try:
        from contextd.asgi import application
    finally:
        wait_until_let_go()  # while it is held, `up` reports errors
    from django.conf import settings

    from contextd.connections import Connection

    uvicorn.run(
        application,
        host=settings.ENVIRONMENT.http_host,
        port=settings.ENVIRONMENT.http_port,
        loop="uvloop",
        http=Connection,
        lifespan="on",
        timeout_graceful_shutdown=5,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        log_level=settings.LIBRARY_LOG_LEVEL.lower(),
    )


if __name__ == "__main__":
    main()

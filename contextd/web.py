"""The web server of this contextd: its address, and when it started."""

import http.client
import signal
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Literal

from django.conf import settings
from pydantic import BaseModel, ValidationError

_WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  (recognised, not bound to)
_ANSWER_SECONDS = 5
_started_at: datetime | None = None
_is_ending = False


class Life(BaseModel):
    """The answer of `/healthz`."""

    status: Literal["ok"] = "ok"
    uptime: float


def note_start() -> None:
    """Record the start; the web process calls this when it begins to serve."""
    global _started_at
    _started_at = datetime.now(UTC)


def note_end() -> None:
    """Record that this process has been asked to end."""
    global _is_ending
    _is_ending = True


def is_ending() -> bool:
    """Return whether calls of this process may be cancelled because it ends."""
    return _is_ending


def on_shutdown(notify: Callable[[], object]) -> None:
    """Call `notify` as soon as the server is asked to end: it waits for open streams first."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        handle = signal.getsignal(number)
        if callable(handle):
            signal.signal(number, partial(_notify_and_chain, notify, handle))


def _notify_and_chain(
    notify: Callable[[], object], handle: Callable[..., Any], number: int, frame: Any
) -> None:
    notify()
    handle(number, frame)


def uptime() -> timedelta | None:
    """Return the uptime of this process if it is the web server, else of the one that answers."""
    if _started_at:
        return datetime.now(UTC) - _started_at
    try:
        return timedelta(seconds=Life.model_validate_json(ask("/healthz") or b"").uptime)
    except ValidationError:
        return None


def address() -> str:
    """Return the address for a browser on this machine."""
    host = settings.ENVIRONMENT.http_host
    return f"http://{'localhost' if host in _WILDCARDS else host}:{settings.ENVIRONMENT.http_port}"


def ask(path: str) -> bytes | None:
    """Return the content at that path; None unless the answer is a success."""
    host = settings.ENVIRONMENT.http_host
    connection = http.client.HTTPConnection(
        _WILDCARDS.get(host, host), settings.ENVIRONMENT.http_port, timeout=_ANSWER_SECONDS
    )
    with closing(connection):
        try:
            connection.request("GET", path, headers={"Host": "localhost"})
            response = connection.getresponse()
            return response.read() if response.status == http.HTTPStatus.OK else None
        except (OSError, http.client.HTTPException):
            return None

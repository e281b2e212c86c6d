"""What the server offers has changed: told here by whoever changed it, heard by the doors."""

from collections.abc import Callable
from functools import partial

from django.db import transaction

from contextd import bus
from contextd.bus import Change, Kind

Listener = Callable[[Change], None]

_listeners: list[Listener] = []


def announce(kind: Kind, uri: str | None = None) -> None:
    """Tell every client of every process, once the current transaction has committed.

    The list of that kind is another now or, with `uri`, the resource there is.
    """
    transaction.on_commit(partial(_publish, Change(kind=kind, uri=uri)))


def subscribe(listener: Listener) -> Callable[[], None]:
    """Call `listener` for each change, on any thread; returns how to end that.

    It must not raise and not block.
    """
    _listeners.append(listener)
    return partial(_listeners.remove, listener)


def hear(change: Change) -> None:
    """Tell the listeners of this process."""
    for listener in _listeners.copy():
        listener(change)


def _publish(change: Change) -> None:
    hear(change)
    bus.tell(change)

"""What the server offers, to whom, or was asked has changed: told here by whoever changed it."""

from collections.abc import Callable
from functools import partial

from django.db import transaction

from contextd import bus
from contextd.bus import AccessChanged, CallsRecorded, Change, Kind

Told = Change | AccessChanged | CallsRecorded
Listener = Callable[[Told], None]

_listeners: list[Listener] = []


def announce(kind: Kind, uri: str | None = None) -> None:
    """Tell every client of every process, once the current transaction has committed.

    The list of that kind is another now or, with `uri`, the resource there is.
    """
    _tell(Change(kind=kind, uri=uri))


def announce_access() -> None:
    """Tell every process that somebody may use something else now, also after commit."""
    _tell(AccessChanged())


def announce_calls() -> None:
    """Tell every process that calls were recorded, also after commit."""
    _tell(CallsRecorded())


def concerns(uri: str, address: str) -> bool:
    """Whether news of a resource is news of an address, which may be the same with a query."""
    return address == uri or address.startswith(f"{uri}?")


def subscribe(listener: Listener) -> Callable[[], None]:
    """Call `listener` with all that is told, on any thread; returns how to end that.

    It must not raise and not block.
    """
    _listeners.append(listener)
    return partial(_listeners.remove, listener)


def hear(told: Told) -> None:
    """Tell the listeners of this process."""
    for listener in _listeners.copy():
        listener(told)


def _tell(told: Told) -> None:
    transaction.on_commit(partial(_publish, told))


def _publish(told: Told) -> None:
    hear(told)
    bus.tell(told)

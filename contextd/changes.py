"""Announcements of changes in what clients may have listed or read."""

from collections.abc import Callable
from functools import partial

from django.db import transaction

from contextd import bus
from contextd.bus import AccessChanged, CallsRecorded, Change, ListName

Announcement = Change | AccessChanged | CallsRecorded
Listener = Callable[[Announcement], None]

_listeners: list[Listener] = []


def announce(kind: ListName, uri: str | None = None) -> None:
    """Notify every client of every process once the current transaction has committed.

    The list of that kind has changed or, with `uri`, only the resource at that address.
    """
    _dispatch(Change(kind=kind, uri=uri))


def announce_access() -> None:
    """Notify every process, after commit, that someone's permissions changed."""
    _dispatch(AccessChanged())


def announce_calls() -> None:
    """Notify every process, after commit, that calls were recorded."""
    _dispatch(CallsRecorded())


def concerns(uri: str, address: str) -> bool:
    """Return whether a change of the resource concerns an address, which may add a query to it."""
    return address == uri or address.startswith(f"{uri}?")


def subscribe(listener: Listener) -> Callable[[], None]:
    """Call `listener` with each announcement, on any thread; return a function that ends this.

    The listener must neither raise nor block.
    """
    _listeners.append(listener)
    return partial(_listeners.remove, listener)


def hear(announcement: Announcement) -> None:
    """Notify the listeners of this process."""
    for listener in _listeners.copy():
        listener(announcement)


def _dispatch(announcement: Announcement) -> None:
    transaction.on_commit(partial(_publish, announcement))


def _publish(announcement: Announcement) -> None:
    hear(announcement)
    bus.publish(announcement)

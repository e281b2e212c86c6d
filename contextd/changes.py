"""What the server offers has changed: told here by whoever changed it, heard by the doors."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from django.db import transaction

Kind = Literal["tools", "prompts", "resources"]


@dataclass(frozen=True, slots=True)
class Change:
    """The list of that kind is another now, or the one resource at `uri` is."""

    kind: Kind
    uri: str | None = None


Listener = Callable[[Change], None]

_listeners: list[Listener] = []


def announce(kind: Kind, uri: str | None = None) -> None:
    """Tell every connected client once the current transaction has committed."""
    transaction.on_commit(partial(_publish, Change(kind, uri)))


def subscribe(listener: Listener) -> Callable[[], None]:
    """Call `listener` for each change, on any thread; returns how to end that.

    It must not raise and not block.
    """
    _listeners.append(listener)
    return partial(_listeners.remove, listener)


def _publish(change: Change) -> None:
    for listener in _listeners.copy():
        listener(change)

"""Errors of upstreams that cannot be used."""


class Lost(Exception):
    """The connection cannot be made, or has ended; the message says why."""


class Unsaved(Lost):
    """The upstream listed something that could not be saved, through no fault of its own."""


class Hopeless(Lost):
    """Retrying fails until a person changes something; the message says what."""


class Replaced(Lost):
    """The upstream is stopped for a change, so nothing was sent; its successor may be used."""

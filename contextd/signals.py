"""The kernel's signals. Receivers must not raise and must not be slow."""

from django.dispatch import Signal

operation_finished = Signal()
"""Sent after every call with `operation`, `caller`, `category` ("ok" or an error's), `was_allowed`
(False if a permission was missing or a rate exceeded), `seconds`, `notes` (the call's notes about
itself) and `result` (None if it failed)."""

session_created = Signal()
"""Sent when an MCP client has opened a `session`, the row of that session."""

entry_refused = Signal()
"""Sent when a known principal is refused, with `principal`, `context` (by name), `door`, `client`
and `category` (of the error). Its rate is limited (`limits.RECORDED_REFUSAL_RATE`)."""

serving_began = Signal()
"""Sent by the web process before its first request."""

serving_ends = Signal()
"""Sent by the web process, in its event loop, when it is asked to end: long-lived answers end."""

serving_ended = Signal()
"""Sent by the web process after its last request, in a thread; receivers may take a moment."""

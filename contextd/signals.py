"""What the kernel announces. Listeners must not raise and must not be slow."""

from django.dispatch import Signal

operation_finished = Signal()
"""Sent after every call with `operation`, `caller`, `category` ("ok" or an error's), `seconds`,
`notes` (what it noted about itself) and `result` (None where it failed)."""

session_created = Signal()
"""Sent when an MCP client has opened a `session`, which is its row."""

entry_refused = Signal()
"""Sent when a known principal is not let in, with `principal`, `context` (the name it asked for),
`door`, `client` and `category` (of the error)."""

serving_began = Signal()
"""Sent by the web process before its first request."""

serving_ends = Signal()
"""Sent by the web process, in its event loop, when it is told to end and still serves: answers that
would go on for long end now."""

serving_ended = Signal()
"""Sent by the web process after its last request, in a thread; listeners may take a moment."""

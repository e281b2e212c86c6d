"""What the kernel announces. Listeners must not raise and must not be slow."""

from django.dispatch import Signal

operation_finished = Signal()
"""Sent after every call with `operation`, `caller`, `category` ("ok" or an error's), `seconds`."""
